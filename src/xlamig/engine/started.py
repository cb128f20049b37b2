"""Find the modules that somebody runs."""

from __future__ import annotations

import re

from xlamig.engine.source import Source
from xlamig.flow import ProjectIndex

_CALLED_AT_TOP = re.compile(r"^(?:\w[\w, ]* = )?([A-Za-z_][\w.]*)\(", re.MULTILINE)


def is_started(source: Source, index: ProjectIndex) -> bool:
    """Return whether a module is a script, or does the same without a main guard: no other imports it, and
    its body calls a function of another module of the project."""
    if source.is_script:
        return True
    interface = source.loaded.interface if source.loaded else None
    if interface is None or source.module in index.import_depths:
        return False
    for path in frozenset(_CALLED_AT_TOP.findall(source.source.text)):
        first, dot, rest = path.partition(".")
        export = interface.exports.get(first)
        if export is not None and export.kind == "name":
            found = index.resolve(export.value + dot + rest, source.module)
            if found is not None and found.kind == "function":
                return True
    return False
