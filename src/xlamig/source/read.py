"""Bytes of any file that can be checked to its text."""

from __future__ import annotations

from xlamig.source.decode import Undecodable, decode
from xlamig.source.notebook import SUFFIX, NotANotebook, read_notebook
from xlamig.source.text import SourceText


def read_source(data: bytes, filename: str) -> SourceText:
    """Raises Undecodable for what is no Python text and no notebook."""
    if not filename.endswith(SUFFIX):
        return decode(data, filename)
    try:
        return read_notebook(data, filename)
    except NotANotebook as error:
        raise Undecodable(error.message, error.location) from None
