from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from hypothesis import settings

settings.register_profile("no-clock", deadline=None)  # the first example reads the tables
settings.load_profile("no-clock")
