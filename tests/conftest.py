"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# No deadlines: the machine may be busy. In CI a run must give the same result twice.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
