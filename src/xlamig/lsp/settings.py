"""The client's settings: the section `xlamig` of its configuration, or the initialization options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from xlamig.engine import Options

Scope = Literal["open", "workspace"]


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """`overrides` are settings by their key in a configuration file. `scope` says whose diagnostics
    are published: those of open documents or of all files. `debounce` is in seconds."""

    overrides: Mapping[str, object] = field(default_factory=dict)
    configuration: Path | None = None
    scope: Scope = "open"
    code_lens: bool = False
    unsafe_fixes: bool = True
    ignore_reason: str = ""
    debounce: float = 0.15
    jobs: int = 0

    @staticmethod
    def read(given: object) -> ServerSettings:
        """Values of the wrong type count as not given: an editor must not break the server."""
        values: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        default = ServerSettings()

        def of_type(key: str, kind: type | tuple[type, ...], otherwise: Any) -> Any:
            value = values.get(key)
            wrong = not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
            return otherwise if wrong else value

        file = of_type("configuration", str, "")
        scope = of_type("diagnosticScope", str, default.scope)
        return ServerSettings(
            overrides=of_type("settings", Mapping, {}),
            configuration=Path(file) if file else None,
            scope="workspace" if scope == "workspace" else "open",
            code_lens=of_type("codeLens", bool, default.code_lens),
            unsafe_fixes=of_type("unsafeFixes", bool, default.unsafe_fixes),
            ignore_reason=" ".join(of_type("ignoreReason", str, "").split()),
            debounce=max(0.0, of_type("debounce", (int, float), default.debounce * 1000) / 1000),
            jobs=max(0, of_type("jobs", int, default.jobs)),
        )

    def options(self) -> Options:
        return Options(self.overrides, self.configuration, jobs=self.jobs)
