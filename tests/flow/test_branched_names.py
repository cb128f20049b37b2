from __future__ import annotations

from xlamig.flow.model.branched_names import BranchedNames, Group, members

MANY = 40


def joined(names: BranchedNames, definitions: range) -> None:
    """Bind `x` in one branch after the other, each without an `else`."""
    for definition in definitions:
        names.begin()
        names.set("x", frozenset((definition,)))
        names.join([{}, names.end()])


def test_keeps_few_definitions_apart() -> None:
    names = BranchedNames()
    joined(names, range(8))
    assert names.get("x") == frozenset(range(8))


def test_groups_many_definitions_and_loses_none() -> None:
    names = BranchedNames()
    joined(names, range(MANY))
    assert len(names.get("x")) < MANY
    found = list(members(names.get("x"), set()))
    assert (len(found), set(found)) == (MANY, set(range(MANY)))


def test_keeps_parameters_out_of_groups() -> None:
    names = BranchedNames()
    names.parameters.add(7)
    names.set("x", frozenset((7,)))
    joined(names, range(100, 100 + MANY))
    assert 7 in names.get("x")


def test_yields_a_known_group_no_more() -> None:
    known: set[Group] = set()
    found = [Group(1, frozenset((3, Group(2, frozenset((4,))))))]
    assert set(members(found, known)) == {3, 4}
    assert list(members(found, known)) == []
