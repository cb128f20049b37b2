"""Our own programs: their sets and their kept traces."""

from __future__ import annotations

from pathlib import Path

from benchmarks.programs import accuracy
from benchmarks.programs.traces import TRACES, keep, kept

EVENT = {
    "kind": "host-read", "via": "item", "count": 8, "frequency": "step", "detail": "", "operators": [],
    "compiles": 0, "filename": "/somewhere/p.py", "location": {"row": 2, "column": 5},
    "end_location": {"row": 2, "column": 9}, "statement": "x.item()",
}  # fmt: skip
TRACE = {
    "steps": 8,
    "steady_state": None,
    "lines": {"/somewhere/p.py": {"2": 8}, "/lib/q.py": {"1": 9}},
    "events": [EVENT],
}


def test_every_program_is_in_one_set() -> None:
    programs = [path for name in accuracy.sets() for path in accuracy.programs_of(name)]
    assert sorted(programs) == sorted(accuracy.PROGRAMS.glob("*.py"))


def test_a_trace_is_kept_without_places_of_the_machine(tmp_path: Path) -> None:
    program = tmp_path / "p.py"
    program.write_text("x = 1\nx.item()\n", "utf-8")
    keep(program, TRACE, tmp_path / "traces")
    found = kept(program, tmp_path / "traces")
    assert found is not None and found["lines"] == {"p.py": {"2": 8}}
    assert found["events"][0]["filename"] == "p.py"
    assert "somewhere" not in (tmp_path / "traces" / "p.json").read_text("utf-8")


def test_the_trace_of_a_changed_program_is_not_used(tmp_path: Path) -> None:
    program = tmp_path / "p.py"
    program.write_text("x = 1\n", "utf-8")
    keep(program, TRACE, tmp_path)
    program.write_text("x = 2\n", "utf-8")
    assert kept(program, tmp_path) is None


def test_kept_traces_belong_to_programs_of_today() -> None:
    for path in TRACES.glob("*.json"):
        assert kept(accuracy.PROGRAMS / f"{path.stem}.py") is not None
