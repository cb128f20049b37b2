"""Bytes to text: of a Python file by the rules of PEP 263, of others as UTF-8."""

from __future__ import annotations

import codecs
import re

from xlamig.findings import Location
from xlamig.source.kinds import Kind
from xlamig.source.text import SourceText

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?$")
_LINE_END = re.compile(rb"\r\n?|\n")
_OTHER_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_START = Location(1, 1)


class Undecodable(Exception):
    """A file that is not Python text; `message` is for people."""

    def __init__(self, message: str, location: Location) -> None:
        super().__init__(message, location)
        self.message = message
        self.location = location

    def __str__(self) -> str:
        return self.message


def decode(data: bytes, filename: str) -> SourceText:
    """The text of `data` with its newlines kept; raises Undecodable."""
    for mark, name in _OTHER_MARKS:
        if data.startswith(mark):
            raise Undecodable(
                f"the file is {name}; Python source has to be UTF-8 or declare its encoding", _START
            )
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    nul = body.find(b"\0")
    if nul >= 0:
        raise Undecodable(
            "the file contains NUL bytes; is it binary or UTF-16?", _locate(body, nul, "latin-1")
        )

    cookie = _find_cookie(body)
    encoding = "utf-8" if cookie is None else _lookup(body, *cookie)
    if bom and cookie is not None and encoding != "utf-8":
        message = f'the file starts with a UTF-8 byte order mark but declares the encoding "{cookie[0]}"'
        raise Undecodable(message, _locate(body, cookie[1], "latin-1"))
    try:
        text = body.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"byte 0x{body[error.start]:02x} is not {encoding}"
        if cookie is None:
            message += "; save the file as UTF-8 or declare its encoding in the first line"
        raise Undecodable(message, _locate(body, error.start, encoding)) from None
    except (UnicodeError, LookupError) as error:
        raise Undecodable(f"the file cannot be decoded as {encoding}: {error}", _START) from None
    return SourceText(filename, text, encoding, bom, exact=_is_exact(body, text, encoding))


def declared_encoding(data: bytes) -> str:
    """The encoding that Python source declares, UTF-8 if none."""
    cookie = _find_cookie(data)
    return cookie[0] if cookie else "utf-8"


def decode_plain(data: bytes, filename: str, kind: Kind) -> SourceText:
    """The text of a file that is not Python; raises Undecodable for a binary one. What is not UTF-8,
    such as a name in an old comment, is read byte by byte: nothing that matters here is spelled with it."""
    bom = data.startswith(codecs.BOM_UTF8)
    body = data[len(codecs.BOM_UTF8) :] if bom else data
    nul = body.find(b"\0")
    if nul >= 0:
        raise Undecodable(
            "the file contains NUL bytes; is it binary or UTF-16?", _locate(body, nul, "latin-1")
        )
    try:
        return SourceText(filename, body.decode("utf-8"), "utf-8", bom, kind=kind)
    except UnicodeDecodeError:
        return SourceText(filename, body.decode("latin-1"), "latin-1", exact=not bom, kind=kind)


def _find_cookie(body: bytes) -> tuple[str, int] | None:
    """The declared encoding and its offset: in line 1, or in line 2 below a blank or comment."""
    start = 0
    for _ in range(2):
        end = _LINE_END.search(body, start)
        line = body[start : end.start() if end else len(body)]
        match = _COOKIE.match(line)
        if match:
            return match[1].decode("ascii"), start + match.start(1)
        if end is None or not _BLANK.match(line):
            return None
        start = end.end()
    return None


def _lookup(body: bytes, name: str, at: int) -> str:
    """The canonical name of a declared encoding that can be one of Python source."""
    spelled = name.lower().replace("_", "-")
    if spelled == "utf-8" or spelled.startswith("utf-8-"):  # also Emacs' utf-8-unix
        return "utf-8"
    if spelled.startswith(("latin-1-", "iso-8859-1-", "iso-latin-1-")):
        return "iso8859-1"
    try:
        encoding = codecs.lookup(name).name
        readable = name.encode("ascii").decode(encoding) == name
    except LookupError:
        raise Undecodable(f'unknown encoding "{name}"', _locate(body, at, "latin-1")) from None
    except UnicodeError:
        readable = False
    # The name itself is ASCII, so an encoding that reads it as something else is not the file's.
    if not readable:
        message = f'the file declares the encoding "{name}" but is not written in it'
        raise Undecodable(message, _locate(body, at, "latin-1"))
    return encoding


def _is_exact(body: bytes, text: str, encoding: str) -> bool:
    if encoding in ("utf-8", "ascii", "iso8859-1"):
        return True
    try:
        return text.encode(encoding) == body
    except UnicodeError:
        return False


def _locate(body: bytes, offset: int, encoding: str) -> Location:
    before = body[:offset].decode(encoding, "replace")
    return SourceText("", before).locate(len(before))
