from pathlib import Path

from benchmarks.zoo import manifest, traces
from benchmarks.zoo.traces import CaseTrace, Error, Seen

PACKAGE = manifest.Package("some", "1.0", "", ())
TRACE = CaseTrace(
    "case",
    "raised",
    Error("RuntimeError", "message", "some-1.0/a.py", 3),
    5,
    (Seen("some-1.0/a.py", (1, 2, 3, 4), "operator", "fallback", 5, True, ("aten::x",)),),
    {"some-1.0/a.py": (1, 2, 3, 7)},
    {"some-1.0/a.py": ((1, 2, 1, 9),)},
)


def test_a_package_without_traces_has_none(tmp_path: Path) -> None:
    assert traces.read(PACKAGE, tmp_path) == {}


def test_reads_what_was_written(tmp_path: Path) -> None:
    traces.write(PACKAGE, {"case": TRACE}, tmp_path)
    assert traces.read(PACKAGE, tmp_path) == {"case": TRACE}


def test_the_same_traces_give_the_same_bytes(tmp_path: Path) -> None:
    traces.write(PACKAGE, {"b": TRACE, "a": TRACE}, tmp_path)
    first = traces.path_of(PACKAGE, tmp_path).read_bytes()
    traces.write(PACKAGE, {"a": TRACE, "b": TRACE}, tmp_path)
    assert traces.path_of(PACKAGE, tmp_path).read_bytes() == first


def test_rows_are_kept_as_ranges() -> None:
    assert traces.as_ranges((1, 2, 3, 7, 9, 10)) == "1-3 7 9-10"
    assert list(traces.of_ranges("1-3 7 9-10")) == [1, 2, 3, 7, 9, 10]


def test_every_stored_trace_can_be_read() -> None:
    for package in manifest.load():
        for name, trace in traces.read(package).items():
            assert trace.case == name
