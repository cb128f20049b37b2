from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from xlamig.config.globs import Globs

pieces = st.sampled_from(["a", "b", ".", "*", "*", "?", "**", "/", "[ab]", "\\*", "{", "|"])
patterns = st.lists(pieces, min_size=1, max_size=9).map("".join)
names = st.text("ab.*/", min_size=1, max_size=12).filter(
    lambda name: "//" not in name and name.strip("/") and not {".", ".."} & set(name.split("/"))
)


@given(patterns, names)
@example("*a*ab", "aab")
@example("a*?b*b", "axbb")
def test_a_pattern_matches_what_it_matches_for_git(pattern: str, name: str) -> None:
    try:
        globs, expected = Globs([pattern]), GitIgnoreSpec.from_lines([pattern])
    except ValueError:
        return
    assert globs.match(name) == expected.match_file(name)


@pytest.mark.parametrize("pattern", ["*a" * 40 + "b", "?*" * 40 + "b", "[a-c]*" * 40 + "0", "a**" * 4 + "b"])
def test_a_pattern_of_many_stars_ends(pattern: str) -> None:
    assert not Globs([pattern]).match("a" * 250)


def test_stars_over_folders_are_limited() -> None:
    with pytest.raises(ValueError, match="more than 4"):
        Globs(["**/a/" * 5])


def test_a_negated_class_does_not_match_a_slash() -> None:
    """As in git; pathspec's class takes one, so the comparison above is without negated classes."""
    assert not Globs(["*[!a]*[!a]"]).match("x/y")
    assert Globs(["*[!a]*[!a]"]).match("x/yz")
