"""Effects of sequences and of branches."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from xlamig.flow.model.effects import Effect, Effects, effects_of

_KINDS = st.frozensets(st.sampled_from([Effect.READ, Effect.SYNC, Effect.WORK, Effect.BACKWARD]))


@st.composite
def _effects(draw: st.DrawFn) -> Effects:
    must = draw(_KINDS)
    return Effects(must, draw(_KINDS), must & draw(_KINDS), draw(st.frozensets(st.sampled_from("ab"))))


def _join(*branches: Effects) -> Effects:
    joined = Effects()
    joined.update_from_branches(*branches)
    return joined


@given(_effects(), _effects(), _effects())
def test_the_join_of_branches_does_not_depend_on_their_order(
    one: Effects, two: Effects, three: Effects
) -> None:
    assert _join(one, two) == _join(two, one)
    assert _join(one, _join(two, three)) == _join(_join(one, two), three) == _join(one, two, three)
    assert _join(one, one) == one


@given(_effects(), _effects())
def test_a_branch_that_does_nothing_leaves_no_certain_effect(one: Effects, two: Effects) -> None:
    joined = _join(one, Effects())
    assert not joined.must and not joined.repeated
    assert joined.may == one.must | one.may
    assert joined.assigned == one.assigned


@given(_effects(), _effects())
def test_more_effects_of_a_branch_give_more_of_the_join(one: Effects, two: Effects) -> None:
    grown = Effects(one.must, one.may, one.repeated, one.assigned)
    grown.update(two)
    smaller, larger = _join(one, Effects()), _join(grown, Effects())
    assert smaller.may <= larger.may and smaller.assigned <= larger.assigned


def test_an_effect_at_two_places_is_repeated() -> None:
    effects = Effects()
    effects.repeat(Effect.SYNC)
    assert not effects.repeated
    effects.repeat(Effect.SYNC)
    assert effects.repeated == {Effect.SYNC}


@given(_effects())
def test_known_effects_survive_the_cache_in_one_order(effects: Effects) -> None:
    known = effects.known(frozenset(Effect))
    again = pickle.loads(pickle.dumps(known, 5))
    assert again == known and repr(again) == repr(known)
    kept = effects_of(again)
    assert (kept.must, kept.may, kept.repeated) == (effects.must, effects.may, effects.repeated)


def test_effects_of_other_kinds_do_not_leave_the_module() -> None:
    effects = Effects(frozenset({Effect.READ, Effect.TRANSFER}), frozenset({Effect.TRANSFER}))
    assert effects.known(frozenset({Effect.READ})).must == (Effect.READ,)
    assert not effects.known(frozenset({Effect.READ})).may
