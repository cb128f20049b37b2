"""Instructions that ran, and the parts of a line that did not."""

from pathlib import Path

from benchmarks.zoo.inside.reach import Reach
from xlamig.observe.inside.lines import Lines

SOURCE = """def chosen(flag, values):
    first = values[0] if flag else values[1]
    return first and not flag and len(values)
"""


def _unreached(path: Path, *flags: bool) -> list[str]:
    path.write_text(SOURCE)
    scope: dict[str, object] = {}
    exec(compile(SOURCE, str(path), "exec"), scope)
    reach = Reach(Lines(lambda: 0), f"{path.parent}/")
    reach.start()
    try:
        for flag in flags:
            scope["chosen"](flag, [1, 2])  # type: ignore[operator]
    finally:
        reach.stop()
    rows = SOURCE.split("\n")
    return [rows[a - 1][b:d] for a, b, _, d in reach.unreached().get(str(path), [])]


def test_names_the_branch_that_was_not_taken(tmp_path: Path) -> None:
    assert _unreached(tmp_path / "a.py", True) == ["values[1]", "len(values)"]


def test_names_nothing_once_all_has_run(tmp_path: Path) -> None:
    assert _unreached(tmp_path / "a.py", True, False) == []
