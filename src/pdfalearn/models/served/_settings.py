"""Where a server is, and the key that it wants to see."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from pdfalearn.checks import checked_integer, checked_number
from pdfalearn.errors import InputError
from pdfalearn.text import described

KEY_VARIABLE = "PDFALEARN_API_KEY"
"""The environment variable that has the key, unless another one is named."""
_DAY = 86400.0


@dataclass(frozen=True)
class Connection:
    """How a server is reached. The key itself is not here: it is read where it is sent.

    Parameters
    ----------
    url : str
        Where the server is, with or without ``/v1``; `root` is without.
    key_variable : str, optional
        The environment variable that has the key.
    in_flight : int
        The most requests that are under way at once.
    timeout : float
        The seconds that one answer may take.
    patience : float
        The seconds during which a request that fails is sent again.
    """

    url: str
    key_variable: str | None = None
    in_flight: int = 8
    timeout: float = 120.0
    patience: float = 300.0

    def __post_init__(self) -> None:
        checks = {
            "url": _checked_url(self.url),
            "in_flight": checked_integer(self.in_flight, "in_flight", 1, 1024),
            "timeout": checked_number(self.timeout, "timeout", 0.001, _DAY),
            "patience": checked_number(self.patience, "patience", 0, _DAY),
        }
        for name, value in checks.items():
            object.__setattr__(self, name, value)
        self.key()  # refuses a variable that is not there

    @property
    def is_local(self) -> bool:
        """Whether the server is on this machine, which no proxy leads to."""
        host = urlsplit(self.url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")

    def key(self) -> str | None:
        """Read the key; None if there is none. No message may hold what was given as its name."""
        name = KEY_VARIABLE if self.key_variable is None else self.key_variable
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise InputError(
                "key_variable is not the name of an environment variable; give the name, such as "
                f"{KEY_VARIABLE!r}, and not the key itself"
            )
        key = os.environ.get(name, "").strip()
        if not key and self.key_variable is not None:
            raise InputError(
                "the environment variable that key_variable names is not set; set it to the key"
            )
        if not (key.isascii() and key.isprintable()):
            raise InputError(
                "the key in the environment has characters that no header may hold; set it again"
            )
        return key or None


def _checked_url(url: object) -> str:
    """Return the address of a server without ``/v1``, or refuse it without printing secrets."""
    if not isinstance(url, str):
        raise InputError(f"the URL is {described(url)}; give a text such as http://127.0.0.1:8000")
    try:
        parts = urlsplit(url.strip())
        has_secret = parts.username is not None or parts.password is not None
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError as error:
        raise InputError(f"the URL of the server is not one ({error})") from error
    if has_secret or parts.query or parts.fragment:
        raise InputError(
            "the URL of the server has a user, a question or a fragment in it; leave these out, "
            "and put a key into an environment variable"
        )
    if not is_address:
        raise InputError(
            f"the URL {described(url)} is not that of a server; it looks like http://127.0.0.1:8000"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"
