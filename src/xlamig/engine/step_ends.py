"""Which fixes end a step: those of a loop, and those of a function that reads a value below its update."""

from __future__ import annotations

import re

from xlamig.findings import Finding
from xlamig.knowledge import helpers

_BOUNDARY = re.compile(rf"^ *(?:\w+\.)?(?:sync|{helpers.BOUNDARY})\(\)$", re.MULTILINE)


def is_of_loop(finding: Finding) -> bool:
    """Return whether a finding is about what ends the steps of a loop."""
    return finding.effort.group == "step-boundary"


def ends_step(finding: Finding) -> bool:
    """Return whether the fix of a finding writes a step boundary."""
    edits = finding.fix.edits if finding.fix else ()
    return any(_BOUNDARY.search(edit.content) for edit in edits)
