from __future__ import annotations

import re

from xlamig.source.phrases import Phrases

FITS = Phrases(("fit(",), re.compile(r"\bfit\("))


def test_a_text_without_the_words_does_not_match() -> None:
    assert not FITS.are_in("fits = 1")


def test_a_word_alone_is_no_match() -> None:
    assert not FITS.are_in("benefit(1)")


def test_a_match_is_found() -> None:
    assert FITS.are_in("trainer.fit(1)")
