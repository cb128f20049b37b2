"""Find texts that have nothing to do with torch, by what they name, as nothing could read them."""

from __future__ import annotations

import re
import sys

from xlamig.knowledge import values as table

_SHEBANG = re.compile(r"#!.*\bpython2(?:\.\d)?\b")
_SYNTAX = re.compile(
    r"^[ \t]*(?:print[ \t]+[^\s=(.,\[]|except[ \t]+[\w.]+[ \t]*,[ \t]*\w+[ \t]*:|raise[ \t]+[\w.]+[ \t]*,"
    r"|def[ \t]+\w+\((?:[\w \t]+,)*[ \t]*\([\w, \t]+\)[ \t]*[,)])",
    re.MULTILINE,
)
_RELEVANT = re.compile("torch|cuda", re.IGNORECASE)
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\.*\w*)|import[ \t]+([\w., \t]+))", re.MULTILINE)
_PACKAGES = table.names("program", "host-packages")
_RENAMED = frozenset(  # modules of Python 2's library that Python 3 calls by another name
    re.findall(
        r"\w+",
        "__builtin__ BaseHTTPServer ConfigParser Cookie HTMLParser Queue SimpleHTTPServer SocketServer"
        " StringIO Tkinter cPickle cStringIO commands cookielib copy_reg dummy_thread exceptions"
        " htmlentitydefs httplib md5 sets sha thread urllib2 urlparse xmlrpclib",
    )
)


def is_host_text(text: str) -> bool:
    """Return whether a text names neither torch nor CUDA, imports no module of the project, and is Python 2,
    which no program of today's torch imports, or uses a package that computes on the host, such as pandas."""
    if _RELEVANT.search(text):
        return False
    packages = _PACKAGES.union(name.partition(".")[0] for name in table.names("consumers", "library"))
    found = _imported(text)
    if not found <= sys.stdlib_module_names | _RENAMED | packages:
        return False
    is_python2 = _SHEBANG.match(text) or _SYNTAX.search(text)
    return not found.isdisjoint(packages) or is_python2 is not None


def _imported(text: str) -> set[str]:
    """Return the first parts of the names of the modules that a text imports; "" for a relative import."""
    found: set[str] = set()
    for match in _IMPORT.finditer(text):
        names = [match[1]] if match[1] is not None else match[2].split(",")
        found |= {name.split()[0].partition(".")[0] if name.split() else "" for name in names}
    return found
