from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlamig.findings import Edit, Fix
from xlamig.fix.edits import apply_edits, choose
from xlamig.source.text import SourceText

TEXT = "".join(chr(ord("a") + i % 26) for i in range(60))
SOURCE = SourceText("a.py", TEXT)


def edit(start: int, end: int, content: str = "X") -> Edit:
    return Edit("a.py", None, SOURCE.range(start, end), content)


def fix(*edits: Edit, message: str = "m") -> Fix:
    return Fix(message, "safe", edits)


def spans() -> st.SearchStrategy[Edit]:
    ends = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(sorted)
    return st.builds(lambda s, c: edit(s[0], s[1], c), ends, st.sampled_from(["", "X", "YY"]))


fixes = st.lists(st.lists(spans(), min_size=1, max_size=3).map(lambda e: fix(*e)), max_size=8)


def test_overlapping_edits_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        apply_edits(TEXT, [edit(0, 4), edit(3, 6)])


def test_two_insertions_at_one_place_conflict() -> None:
    chosen, left = choose([fix(edit(5, 5, "A")), fix(edit(5, 5, "B"))])
    assert (len(chosen), len(left)) == (1, 1)


def test_insertion_before_a_replacement_conflicts() -> None:
    assert len(choose([fix(edit(5, 5, "A")), fix(edit(5, 8, "B"))])[0]) == 1


def test_of_nested_fixes_the_outer_one_goes_first() -> None:
    inner, outer = fix(edit(3, 4)), fix(edit(2, 9))
    assert choose([inner, outer]) == ([outer], [inner])


def test_a_fix_is_taken_whole_or_not_at_all() -> None:
    first, second = fix(edit(0, 4)), fix(edit(2, 3), edit(20, 22))
    assert choose([first, second]) == ([first], [second])


def test_a_fix_at_odds_with_itself_is_left_out() -> None:
    assert choose([fix(edit(0, 4), edit(2, 6))])[0] == []


def test_an_import_needed_by_two_fixes_is_written_once() -> None:
    line = edit(0, 0, "import torch_xla\n")
    chosen, _ = choose([fix(line, edit(10, 12)), fix(line, edit(20, 22))])
    text = apply_edits(TEXT, [e for f in chosen for e in f.edits])
    assert len(chosen) == 2
    assert text.count("import torch_xla") == 1


def test_adjacent_edits_go_together() -> None:
    assert apply_edits("abcd", [edit(0, 2, "1"), edit(2, 4, "2")]) == "12"


@given(fixes)
def test_chosen_fixes_never_overlap(given_fixes: list[Fix]) -> None:
    chosen, left = choose(given_fixes)
    apply_edits(TEXT, [e for f in chosen for e in f.edits])
    assert len(chosen) + len(left) == len(given_fixes)


@given(fixes)
def test_leaves_out_what_conflicts_with_a_chosen_fix(given_fixes: list[Fix]) -> None:
    chosen, left = choose(given_fixes)
    for one in left:
        with pytest.raises(ValueError, match="overlap"):
            apply_edits(TEXT, [e for f in (*chosen, one) for e in f.edits])


@given(fixes, st.randoms())
def test_choice_does_not_depend_on_order(given_fixes: list[Fix], random: object) -> None:
    shuffled = list(given_fixes)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    texts = [apply_edits(TEXT, [e for f in choose(f_)[0] for e in f.edits]) for f_ in (given_fixes, shuffled)]
    assert texts[0] == texts[1]


@given(fixes)
def test_text_outside_the_edits_is_kept(given_fixes: list[Fix]) -> None:
    done = sorted({e for f in choose(given_fixes)[0] for e in f.edits}, key=lambda e: e.place.start)
    kept, position = [], 0
    for one in done:
        kept.append(TEXT[position : one.place.start])
        position = one.place.end
    kept.append(TEXT[position:])
    rest = apply_edits(TEXT, done)
    for piece in kept:
        assert piece in rest
    assert len(rest) == sum(map(len, kept)) + sum(len(e.content) for e in done)
