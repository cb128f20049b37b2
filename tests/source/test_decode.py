from __future__ import annotations

import codecs
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from xlamig.findings import Location
from xlamig.source.decode import Undecodable, decode


def refused(data: bytes) -> Undecodable:
    with pytest.raises(Undecodable) as caught:
        decode(data, "a.py")
    return caught.value


def test_utf16_is_named() -> None:
    assert "UTF-16" in refused("x = 1\n".encode("utf-16")).message


def test_nul_bytes_are_located() -> None:
    error = refused(b"x = 1\ny\0")
    assert "NUL" in error.message
    assert error.location == Location(2, 2)


def test_utf16_without_mark_is_nul_bytes() -> None:
    assert "UTF-16?" in refused("x = 1\n".encode("utf-16-le")).message


def test_bytes_that_are_no_utf8_are_located_in_code_points() -> None:
    error = refused("x = 'é".encode() + b"\xe9'")
    assert "0xe9" in error.message
    assert error.location == Location(1, 7)


@pytest.mark.parametrize("name", ["klingon", "rot13", "hex"])
def test_unknown_encoding_is_named_and_located(name: str) -> None:
    error = refused(f"#!/usr/bin/python\n# coding: {name}\n".encode())
    assert error.message == f'unknown encoding "{name}"'
    assert error.location == Location(2, 11)


@pytest.mark.parametrize("name", ["utf-16", "utf-32", "cp037"])
def test_declared_encoding_that_cannot_be_the_files(name: str) -> None:
    assert name in refused(f"# coding: {name}\n".encode()).message


def test_mark_against_cookie() -> None:
    error = refused(codecs.BOM_UTF8 + b"# coding: latin-1\n")
    assert "byte order mark" in error.message
    assert error.location == Location(1, 11)


def test_undecodable_survives_a_process_boundary() -> None:
    error = pickle.loads(pickle.dumps(refused(b"\0")))
    assert (error.message, error.location) == (refused(b"\0").message, Location(1, 1))


@pytest.mark.parametrize(
    "head", ["x = 1\n# coding: latin-1\n", "\n\n# coding: latin-1\n", "s = 'coding: latin-1'\n"]
)
def test_no_cookie_here(head: str) -> None:
    assert decode(head.encode(), "a.py").encoding == "utf-8"


@pytest.mark.parametrize(
    "head",
    [
        "# -*- coding: latin-1 -*-\n",
        "# vim: set fileencoding=latin-1 :\n",
        "\f # coding=latin_1\r",
        "#!x\r\n# coding:iso-8859-1\r\n",
    ],
)
def test_cookie_is_followed(head: str) -> None:
    data = head.encode() + b"s = '\xe9'\n"
    source = decode(data, "a.py")
    assert source.text.endswith("s = 'é'\n")
    assert source.encode() == data


@pytest.mark.parametrize("name", ["utf-8", "UTF8", "utf_8", "utf-8-unix", "utf-8-sig"])
def test_names_of_utf8(name: str) -> None:
    data = f"# coding: {name}\ns = 'é'\n".encode()
    assert decode(data, "a.py").encode() == data
    assert decode(codecs.BOM_UTF8 + data, "a.py").encode() == codecs.BOM_UTF8 + data


def test_mark_is_no_part_of_the_text() -> None:
    source = decode(codecs.BOM_UTF8 + b"x", "a.py")
    assert (source.text, source.bom) == ("x", True)


def test_text_that_cannot_be_written_back_is_marked() -> None:
    # An escape sequence that changes nothing is lost in decoding.
    data = b"# coding: iso2022_jp\n\x1b(B\x1b(Bx = 1\n"
    assert not decode(data, "a.py").exact
    assert decode(b"# coding: iso2022_jp\nx = 1\n", "a.py").exact


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])), st.booleans())
def test_round_trip(content: str, mark: bool) -> None:
    data = (codecs.BOM_UTF8 if mark else b"") + ("x = 1\n\n" + content).encode()
    assert decode(data, "a.py").encode() == data


@given(
    st.binary(max_size=60), st.sampled_from([b"", b"# coding: ", b"# coding: utf-7\n", b"# coding: cp932\n"])
)
def test_any_bytes_are_text_or_refused(data: bytes, head: bytes) -> None:
    try:
        source = decode(head + data, "a.py")
    except Undecodable as error:
        assert error.message
    else:
        assert not source.exact or source.encode() == head + data
