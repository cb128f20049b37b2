"""Command-line options that only `torch.distributed.launch` passes to a program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import Launch
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table


class LaunchOptions:
    """Makes launch facts of options for the rank of a process."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def in_call(self, node: ir.Call, place: CodeContext) -> Iterator[Launch]:
        """Yield `parser.add_argument("--local_rank", default=-1)` where the file reads the option and sets it
        nowhere."""
        if not isinstance(node.func, ir.Attribute) or node.func.attr != "add_argument":
            return
        names = [
            arg.value.value for arg in node.args if arg.keyword is None and isinstance(arg.value, ir.Const)
        ]
        option = next((str(name) for name in names if name in table.names("launch", "passed")), "")
        name = option.lstrip("-")
        text = self.analysis.text
        if (
            option
            and re.search(rf"\.{name}\b(?!\s*=[^=])", text)
            and not re.search(rf"\.{name}\s*=(?!=)", text)
        ):
            yield Launch(**place.fields(node), backend="", via="option", option=option)
