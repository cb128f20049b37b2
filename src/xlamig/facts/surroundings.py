"""The surroundings of a program, and events of the tool itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from xlamig.facts.common import Fact, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment(Fact):
    """A fact about the program's surroundings. In Python an environment variable is read, written or deleted;
    `value` is what is written. In other files (`access` is "file", `file` their kind) something has a `name`:

    variable  an environment variable is set         image     a container image is used
    package   a package of the system is installed   index     a package index is named
    command   a program is started, its arguments as text in `value`
    option    an option of such a command: "docker --gpus", "sbatch --gres"
    setting   a key of a YAML or JSON file; `path` are the keys above it, with dots
    """

    kind: ClassVar[str] = "environment"

    variable: str = ""
    access: Literal["read", "write", "delete", "file"]
    value: Value | None = None
    what: Literal["variable", "image", "package", "index", "command", "option", "setting"] = "variable"
    name: str = ""
    path: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEvent(Fact):
    """Something about the run itself: an unparsable file, a stray suppression, a crashed rule."""

    kind: ClassVar[str] = "tool"

    event: Literal[
        "unparsable-file", "unused-suppression", "unknown-code", "stale-baseline-entry", "rule-crashed"
    ]
    subject: str  # the code, rule or error text it is about
    detail: str = ""
