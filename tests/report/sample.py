"""One report that every format has to show."""

from __future__ import annotations

from making import a_finding, a_fix, a_reason, an_edit, span_of
from xlamig.findings import (
    Create,
    Edit,
    FileReport,
    Fix,
    Part,
    Report,
    RuleError,
    Size,
    SkippedFile,
)  # fmt: skip

TEXT = """\
import torch

for batch in loader:
\tloss = model(batch)  # \u6570
    torch.cuda.synchronize()
    total += loss.item()
    run(
        loss,
    )
"""
_SYNC = span_of(TEXT, "torch.cuda.synchronize()")
_READ = span_of(TEXT, "loss.item()")
_CALL = span_of(TEXT, "run(\n        loss,\n    )")
_LOOP = span_of(TEXT, "for batch in loader:")
_FIRST = span_of(TEXT, "import torch")

FINDINGS = (
    a_finding(
        place=_SYNC,
        statement="torch.cuda.synchronize()",
        help="write `torch_xla.sync(wait=True)`",
        frequency="step",
        reasons=(a_reason("this loop is a training step", _LOOP), a_reason("seen in a run")),
        fix=a_fix(
            "safe",
            an_edit(place=_FIRST, content="import torch\nimport torch_xla"),
            an_edit(place=_SYNC, content="torch_xla.sync(wait=True)"),
        ),
        fingerprint="f1",
    ),
    a_finding(
        "XLA101",
        "complex",
        name="tensor-item-in-loop",
        severity="warning",
        mechanism="host-sync",
        frequency="step",
        confidence="likely",
        message="`loss.item()` waits for the device\nin every step",
        place=_READ,
        statement="total += loss.item()",
        phase="fast",
        group="host-reads",
        fix=Fix(
            "Keep the sum on the device",
            "unsafe",
            (Edit("train.py", None, _READ, "loss.detach()"), Edit("util.py", None, _READ, "x")),
            (Create("xla_compat.py", "..."),),
        ),
        fingerprint="f2",
    ),
    a_finding(
        "XLA905",
        "simple",
        name="no-device-loader",
        severity="info",
        mechanism="slow",
        frequency="unknown",
        message="batches are copied one by one",
        place=_CALL,
        phase="fast",
        fingerprint="f3",
    ),
)
NOTEBOOK = a_finding(
    filename="\u4f8b.ipynb", cell=2, place=span_of("torch.cuda.synchronize()", "torch"), fingerprint="f4"
)
REPORT = Report(
    "torch_xla",
    (
        FileReport("big.py", skipped=SkippedFile("big.py", "larger than max-file-size")),
        FileReport(
            "train.py",
            FINDINGS,
            None,
            (RuleError("XLA301", "train.py", "KeyError: 'x'"),),
            1,
            lines=9,
            sites=6,
            parts=(
                Part(
                    "Net", "class", ("torch.nn.Module",), ("generate",), (), (("torch.nn.Linear", 2),), 1, 9
                ),
            ),
            sizes=(Size("hidden", "d_model", 1600, "Net", 2), Size("heads", "n_head", 25, "Net", 3)),
        ),
        FileReport("\u4f8b.ipynb", (NOTEBOOK,), lines=1, sites=1),
    ),
)


def text_of(filename: str) -> str | None:
    return TEXT if filename == "train.py" else None
