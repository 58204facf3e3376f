"""The runs that have failed, in a file beside the table of those that were done."""

from __future__ import annotations

import json
from pathlib import Path

from pdfalearn.errors import FileFormatError
from pdfalearn.experiments.runs import Key
from pdfalearn.files.named import replacing

FAILURES = "failures.json"


def read_failures(folder: Path) -> dict[Key, str]:
    """Read which runs have failed at some time, and why.

    Raises
    ------
    FileFormatError
        If the file holds something else.
    """
    path = folder / FAILURES
    try:
        content = json.loads(path.read_bytes())
        return {
            Key(int(experiment), str(target), int(kappa), str(learner), int(run)): str(reason)
            for experiment, target, kappa, learner, run, reason in content
        }
    except FileNotFoundError:
        return {}
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"{path}: not a list of failed runs: {error}") from error


def note_failure(folder: Path, key: Key, reason: str) -> None:
    """Write down that a run has failed; a row in the table says that it was done since."""
    failures = read_failures(folder) | {key: reason}
    with replacing(folder / FAILURES) as stream:
        content = [[*one, why] for one, why in failures.items()]
        stream.write(json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n")
