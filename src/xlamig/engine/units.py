"""Which findings of a file are one job: those of an image or a kernel, the copies to the host of a function,
and a read with what follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xlamig.findings import Finding

_IMAGE = "XLA910"
_IN_IMAGES = ("XLA909", "XLA910", "XLA911", "XLA912")
_KERNELS = ("XLA601", "XLA603", "XLA604")  # extensions, Triton, cupy and its like
_RUNTIMES = ("XLA604", "XLA610")  # cupy and its like, TensorRT, Triton servers
_LAUNCHES = ("XLA007", "XLA009", "XLA016")  # streams, CUDA's internals and addresses: what a launch is given
_READS = "XLA1"
_COPIES = ("XLA101", "XLA102", "XLA103")  # values that the host can read together
_FROM_READS = ("XLA1", "XLA2", "XLA3")


def with_units(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings of a file, those of one unit with the same `job`."""
    findings = list(_with_lines(findings))
    if any(finding.code == _IMAGE for finding in findings):
        findings = [_in_job(f, "image") if f.code in _IN_IMAGES else f for f in findings]
    findings = list(_with_copies(list(_with_kernels(findings))))
    return tuple(_with_reads(findings))


def _with_lines(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings, those of one rule on one line with the same `job`: `f(q.half(), k.half())`."""
    jobs: dict[tuple[str, int | None, int], str] = {}
    for finding in findings:
        line = (finding.code, finding.cell, finding.place.location.row)
        yield replace(finding, job=jobs.setdefault(line, finding.job)) if finding.job else finding


def _in_job(finding: Finding, unit: str) -> Finding:
    return replace(finding, job=f"{finding.filename}|{unit}")


def _with_kernels(findings: Sequence[Finding]) -> Iterator[Finding]:
    """A runtime for GPUs that files import at their top makes all of them one unit; a kernel makes the class
    or function that holds it one, with what launches take."""
    at_top = (finding for finding in findings if finding.code in _RUNTIMES and not finding.scope)
    runtime = next((finding for finding in at_top if finding.severity != "info"), None)
    kernels = [finding for finding in findings if finding.code in _KERNELS]
    units = {_top(kernel) for kernel in kernels} - {""}
    for finding in findings:
        if runtime is not None:
            yield replace(finding, job=f"{runtime.code}|{runtime.dependency}")
        elif kernels and (_top(finding) in units or finding in kernels or finding.code in _LAUNCHES):
            unit = _top(finding) if _top(finding) in units else _top(kernels[0])
            yield _in_job(finding, f"kernel {unit}")
        else:
            yield finding


def _top(finding: Finding) -> str:
    """Return the class or function at the top of the file that holds the finding."""
    return finding.scope.partition(".")[0]


def _with_copies(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings, those about copies of one function to the host with the same `job`."""
    jobs: dict[tuple[str, int | None, str], str] = {}
    for finding in findings:
        if finding.code in _COPIES and finding.severity != "info":
            finding = replace(
                finding, job=jobs.setdefault((finding.scope, finding.cell, finding.frequency), finding.job)
            )
        yield finding


def _with_reads(findings: Sequence[Finding]) -> Iterator[Finding]:
    reads = [finding for finding in findings if finding.code.startswith(_READS)]
    for finding in findings:
        known = {(r.place.start, r.place.end) for r in finding.reasons if r.place} - {_span(finding)}
        read = next((read for read in reads if _span(read) in known), None)
        follows = read is not None and finding.code.startswith(_FROM_READS)
        yield replace(finding, job=read.job) if follows and read else finding


def _span(finding: Finding) -> tuple[int, int]:
    return finding.place.start, finding.place.end
