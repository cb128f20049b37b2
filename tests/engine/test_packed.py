"""Values that stay pickled until they are asked for."""

from __future__ import annotations

import pickle

from xlamig.engine.packed import Packed


def loads(text: str) -> str:
    """Raise: the value must not be unpickled."""
    raise AssertionError(text)


class Unread:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return loads, ("unpickled",)


def test_gives_the_value_back() -> None:
    value = frozenset({("a", 1), ("b", 2)})
    once = pickle.loads(pickle.dumps(Packed(value)))
    twice = pickle.loads(pickle.dumps(once))
    assert once.get() == twice.get() == value
    assert once.seal == twice.seal == Packed(value).seal != Packed(frozenset({("a", 1)})).seal


def test_leaves_the_value_pickled() -> None:
    packed = pickle.loads(pickle.dumps(Packed(Unread())))
    assert pickle.loads(pickle.dumps(packed)).seal == packed.seal
