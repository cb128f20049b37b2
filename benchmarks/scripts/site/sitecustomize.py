"""Found by every Python that `migrate.py` starts, before anything else runs."""

from __future__ import annotations

import os
from pathlib import Path

OUT = os.environ.get("MIGRATE_OUT")
if OUT and not Path(OUT).exists():
    Path(OUT).touch()  # the processes that the program starts are not its own run
    import migrate_observer

    migrate_observer.install(Path(OUT), int(os.environ["MIGRATE_STEPS"]), "MIGRATE_CONTROLLED" in os.environ)
