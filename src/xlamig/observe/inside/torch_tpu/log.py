"""Log a dry run by line, written when the process ends."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from xlamig.observe.inside import frames
from xlamig.observe.inside.frames import Site
from xlamig.observe.inside.lines import Lines


class Log:
    """Stops the program after `limit` optimizer steps."""

    def __init__(self, folder: Path, limit: int) -> None:
        self.process = os.getpid()
        self.path = folder / f"{os.getpid()}.dryrun"
        self.limit = limit
        self.steps = 0
        self.found: Counter[tuple[str, str, str, Site | None]] = Counter()
        self.operators: Counter[str] = Counter()
        self.redirected: Counter[str] = Counter()
        self.lines = Lines(lambda: self.steps)
        self.exception: dict[str, Any] | None = None

    def note(self, kind: str, operator: str, message: str = "", frame: FrameType | None = None) -> None:
        site = frames.innermost(frame or sys._getframe(1))
        self.found[kind, operator, message.partition("\n")[0][:200], site] += 1

    def stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.steps += 1
        if self.steps >= self.limit:
            raise SystemExit(0)

    def failed(self, kind: type[BaseException], error: BaseException, trace: Any) -> None:
        self.exception = frames.failure(kind, error, trace)
        self.finish()

    def finish(self) -> None:
        if os.getpid() != self.process:
            return
        self.lines.stop()
        events = [
            {
                "kind": kind,
                "operator": operator,
                "message": message,
                "count": count,
                "place": frames.place(site),
            }
            for (kind, operator, message, site), count in self.found.items()
        ]
        content = {
            "steps": self.steps,
            "operators": sum(self.operators.values()),
            "distinct": len(self.operators),
            "events": events,
            "lines": self.lines.by_file(),
            "redirected": self.redirected,
            "exception": self.exception,
        }
        self.path.write_text(json.dumps(content))
