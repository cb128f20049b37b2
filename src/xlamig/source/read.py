"""Bytes of any file that can be checked to its text."""

from __future__ import annotations

from xlamig.source.decode import Undecodable, decode, decode_plain
from xlamig.source.kinds import kind_of
from xlamig.source.notebook import SUFFIX, NotANotebook, read_notebook
from xlamig.source.text import SourceText


def read_source(data: bytes, filename: str) -> SourceText:
    """Raises Undecodable for what is no text, no Python or no notebook, as its name says it is."""
    kind = kind_of(filename)
    if kind is not None:
        return decode_plain(data, filename, kind)
    if not filename.endswith(SUFFIX):
        return decode(data, filename)
    try:
        return read_notebook(data, filename)
    except NotANotebook as error:
        raise Undecodable(error.message, error.location) from None
