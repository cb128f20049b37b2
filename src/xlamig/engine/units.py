"""Which findings of a file are one job: those of an image or a kernel, and a read with what follows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from xlamig.findings import Finding

_IMAGE = "XLA910"
_IN_IMAGES = ("XLA909", "XLA910", "XLA911", "XLA912")
_KERNELS = ("XLA601", "XLA603", "XLA604")  # extensions, Triton, cupy and its like
_BUILD, _SOURCE = "XLA601", "XLA602"  # the build of an extension, and its sources and calls
_NATIVE = (".cu", ".cuh", ".cpp", ".cc", ".h", ".hpp")
_RUNTIMES = ("XLA604", "XLA610")  # cupy and its like, TensorRT, Triton servers
_LAUNCHES = ("XLA007", "XLA009", "XLA016")  # streams, CUDA's internals and addresses: what a launch is given
ATTENTION, _HALF = "XLA605", "XLA802"  # attention for GPUs takes float16 or bfloat16
_STREAMS = "XLA007"  # streams, events and graphs
_AROUND_STREAMS = ("XLA005", "XLA006")  # waits for them, and what memory they take
_READS = "XLA1"
_FROM_READS = ("XLA1", "XLA2", "XLA3")


def with_units(findings: Sequence[Finding], sources: Sequence[str] = ()) -> tuple[Finding, ...]:
    """Return the findings of a file, those of one unit with the same `job`; `sources` are the files with the
    kernels that it builds or calls."""
    findings = list(_with_lines(findings))
    if any(finding.code == _IMAGE for finding in findings):
        findings = [_in_job(f, "image") if f.code in _IN_IMAGES else f for f in findings]
    findings = list(_with_kernels(findings))
    findings = [_of_extension(finding, sources) for finding in findings]
    findings = list(_beside(findings, _STREAMS, _AROUND_STREAMS))
    return tuple(_with_reads(list(_beside(findings, ATTENTION, (_HALF,)))))


def _with_lines(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings, those of one rule on one line with the same `job`, and so all reads of a line:
    `f(q.half(), k.half())`."""
    jobs: dict[tuple[str, int | None, int], str] = {}
    for finding in findings:
        subject = _READS if finding.code.startswith(_READS) else finding.code
        line = (subject, finding.cell, finding.place.location.row)
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


def _of_extension(finding: Finding, sources: Sequence[str]) -> Finding:
    """Return the finding, in the job of the first source if it is about an extension: its build and its calls
    need no work of their own."""
    if finding.code == _SOURCE and finding.filename.endswith(_NATIVE):
        return _in_job(finding, _SOURCE)
    if sources and finding.code in (_SOURCE, _BUILD):
        return replace(finding, job=f"{sources[0]}|{_SOURCE}")
    return finding


def _beside(findings: Sequence[Finding], leader: str, others: Collection[str]) -> Iterator[Finding]:
    """Yield the findings, the `others` of a class or function in the job of its first error of a rule."""
    jobs: dict[str, str] = {}
    for finding in findings:
        if finding.code == leader and finding.severity == "error" and _top(finding):
            own = f"{finding.filename}|{leader} {_top(finding)}"
            jobs.setdefault(_top(finding), finding.job or own)
    for finding in findings:
        job = jobs.get(_top(finding))
        first = finding.code == leader and not finding.job
        other = finding.code in others and finding.severity != "info"
        yield replace(finding, job=job) if job and (first or other) else finding


def _top(finding: Finding) -> str:
    """Return the class or function at the top of the file that holds the finding."""
    return finding.scope.partition(".")[0]


def _with_reads(findings: Sequence[Finding]) -> Iterator[Finding]:
    """A read goes with the first shape or index that follows from it, and so do other reads of its value."""
    reads = {_span(finding): finding for finding in reversed(findings) if finding.code.startswith(_READS)}
    origins = {id(finding): read for finding in findings if (read := _origin(finding, reads))}
    jobs: dict[int, str] = {}
    for finding in findings:
        if id(finding) in origins and not finding.code.startswith(_READS):
            jobs.setdefault(id(origins[id(finding)]), finding.job)
    for finding in findings:
        read = origins.get(id(finding), finding)
        yield replace(finding, job=jobs.get(id(read), read.job))


def _origin(finding: Finding, reads: Mapping[tuple[int, int], Finding]) -> Finding | None:
    """Return the read among the reasons of a finding that can follow from one."""
    if not finding.code.startswith(_FROM_READS):
        return None
    spans = ((reason.place.start, reason.place.end) for reason in finding.reasons if reason.place)
    return next((reads[span] for span in spans if span in reads and span != _span(finding)), None)


def _span(finding: Finding) -> tuple[int, int]:
    return finding.place.start, finding.place.end
