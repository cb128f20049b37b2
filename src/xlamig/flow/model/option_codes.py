"""The values that an option may have, coded as words, and the keys that options are known by.

The codes are OFF, ON, another number after FINITE, NONE, NO_NUMBER for None in place of a number, which
says that it is off, UNGIVEN for None where a command may leave an option, a string after TEXT, CUDA for
what is 0 or False on a host without CUDA, NO_CUDA for its opposite, and UNKNOWN; one of these after
FALLBACK for what a look-up gives where the option is missing: `getattr(cfg, "x", False)`; the key of
another option whose value it is; and such a key after NOT for its opposite, after ONLY_IF for a value that
is false at least where that option is off, after WITHIN for a part of a string or its parts:
`kind.lower().split("-")[0]`. Of other objects than settings, what is no constant comes after DATA.

The key of a parameter is "function(x", that of an attribute of `self` or of a class ".Class.x", or ".x" if an
object of any class may be meant, that of a name of the module "=x", and that of an entry or of another
object's attribute "@x", or "@section.x" for one of an object's part, as `cfg.section.x`; "@:script.x" is one
that a script defines by a parser of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from xlamig import ir
from xlamig.flow.model.class_constants import member_text
from xlamig.flow.model.cuda_questions import is_false_without_cuda
from xlamig.flow.model.environment import ENVIRONMENT, WHILE_UNSET, unset_value
from xlamig.flow.model.number_tests import positive_where_true
from xlamig.flow.model.scopes import Binding, Scope, path_of
from xlamig.flow.model.set_before import value_above
from xlamig.flow.model.text_parts import is_part_of, whole_of

OFF, ON, FINITE, NONE, NO_NUMBER, UNGIVEN, UNKNOWN = "-", "+", "#", "~", "~#", "~'", "?"
CUDA, NO_CUDA = "$", "^"
TEXT = "'"
FALLBACK, DATA = ";", ":"
NOT, ONLY_IF, WITHIN = "!", "&", "%"
PARAMETER, ATTRIBUTE, GLOBAL, ENTRY = "(", ".", "=", "@"
STAR = "*"  # the parameter, as it were, of further positions
SECTION = "."  # between the parts of a name
INSTANCE = "()"
"""The name of calls of an object: those that run a `forward` or a `__call__`. Before the name of a method or
variable: calls of it, which may be an object."""

PLACES = "places "
"""Before the key of an option: placements on CUDA depend on it in other files, and CUDA decides it."""

Codes = frozenset[str]
ANY: Codes = frozenset({UNKNOWN})
CALLED = {"forward": INSTANCE, "__call__": INSTANCE}

_CONSTANTS = (OFF, ON, FINITE, NONE, CUDA, NO_CUDA, UNKNOWN, TEXT, FALLBACK, DATA)
_OPPOSITES = {OFF: ON, NONE: ON, UNGIVEN: ON, TEXT: ON, ON: OFF, CUDA: NO_CUDA, NO_CUDA: CUDA}
_FIELDS = frozenset({"field", "Field", "ib", "attrib"})
_SAME, _CUDA = frozenset({"bool", "int", "float", "str"}), frozenset({CUDA})
_MAX_DEPTH, _MOST_BINDINGS = 4, 100  # steps from a name, and bindings of one: generated code has more
_LONGEST = 60  # characters of a string that is compared


def is_constant(code: str) -> bool:
    """Return whether a code says a value, or that it is unknown; others name an option."""
    return code.startswith(_CONSTANTS)


def key_in(code: str) -> str:
    """Return the key of the option that a code names."""
    return code.lstrip(NOT + ONLY_IF + WITHIN)


def keys_in(codes: Iterable[str]) -> Codes:
    """Return the keys of the options that codes name."""
    return frozenset(key_in(code) for code in codes if not is_constant(code))


def option_of(node: ir.Expr) -> str:
    """Return the option that an expression reads: the last name of `cfg.x` and `cfg["x"]`; "" for others."""
    match node:
        case ir.Name(id=name) | ir.Attribute(attr=name):
            return name
        case ir.Subscript(index=(ir.Const(value=str(name)),)):
            return name
        case ir.Call(func=ir.Name(id="getattr"), args=(_, ir.Arg(value=ir.Const(value=str(name))), *_)):
            return name
        case ir.Call(
            func=ir.Attribute(attr="get" | "pop" | "getboolean" | "getint" | "getfloat"),
            args=(ir.Arg(value=ir.Const(value=str(name))), *_),
        ):
            return name
        case ir.Call(func=ir.Name(id=called), args=(ir.Arg(value=value),)) if called in _SAME:
            return option_of(value)
    return ""


def name_of(key: str) -> str:
    """Return the name of the option with a key."""
    name = key.rpartition(PARAMETER)[2].lstrip(GLOBAL + ENTRY)
    return name.rpartition(SECTION)[2]


def owner_of(key: str) -> str:
    """Return the class whose attribute has a key, "" for one of any class."""
    return key.rpartition(SECTION)[0].removeprefix(ATTRIBUTE) if key.startswith(ATTRIBUTE) else ""


def entry_key(node: ir.Expr) -> str:
    """Return the key of the entry or attribute that an expression reads, see `option_of`."""
    option, holder = option_of(node), holder_of(node)
    if holder is None or isinstance(holder, ir.Name) or path_of(holder) == f"self.{option_of(holder)}":
        return ENTRY + option
    return ENTRY + section_key(option_of(holder), option)


def section_key(section: str, option: str) -> str:
    """Return an option with its section, if it has one."""
    return f"{section}{SECTION}{option}" if section else option


def holder_of(node: ir.Expr) -> ir.Expr | None:
    """Return the object that an expression reads an option of."""
    match node:
        case (
            ir.Attribute(value=holder)
            | ir.Subscript(value=holder)
            | ir.Call(func=ir.Attribute(value=holder))
            | ir.Call(func=ir.Name(id="getattr"), args=(ir.Arg(value=holder), *_))
        ):
            return holder
        case ir.Call(args=(ir.Arg(value=value),)):
            return holder_of(value)
    return None


def parameter_key(function: str, name: str) -> str:
    """Return the key of a parameter of the functions of a name."""
    return function + PARAMETER + name


def kept_key(target: ir.Expr, scope: Scope) -> str:
    """Return the key of the option that an assignment sets; "" for a local name, which is none."""
    match target:
        case ir.Name(id=name):
            home = scope.home(name)
            return "" if home.kind == "function" else _bound_key(name, home)
        case ir.Attribute(attr=name):
            if path_of(target) == f"self.{name}":
                return _own_key(name, scope)
            key = entry_key(target)
            return key if SECTION in key else ATTRIBUTE + name
        case ir.Subscript() if option_of(target):
            return entry_key(target)
    return ""


def _own_key(name: str, scope: Scope) -> str:
    """Return the key of `self.name`."""
    owner = scope.class_scope
    return _bound_key(name, owner) if owner is not None else ATTRIBUTE + name


def _bound_key(name: str, home: Scope) -> str:
    """Return the key of a name that a class or a module binds."""
    if home.kind != "class":
        return GLOBAL + name
    return f"{ATTRIBUTE}{home.name.rpartition('.')[2]}{SECTION}{name}"


def function_name(scope: Scope) -> str:
    """Return the name that calls of a function have: that of its class for a constructor."""
    name = scope.name.rpartition(".")[2]
    if name == "__init__" and scope.parent is not None and scope.parent.kind == "class":
        return scope.parent.name.rpartition(".")[2]
    return CALLED.get(name, name)


def codes_of(node: ir.Expr, scope: Scope, depth: int = 0) -> Codes:
    """Return the codes of the values that an expression may have in a scope."""
    if depth > _MAX_DEPTH:
        return ANY
    if isinstance(node, ir.Call | ir.Compare) and (unset := unset_key(node, scope)):
        return frozenset({unset})
    if (number := positive_where_true(node)) is not None:
        return frozenset({_only_if(_limit([codes_of(number, scope, depth + 1)]))})
    match node:
        case ir.Const(value=value):
            return frozenset({code_of(value)})
        case ir.Unary(op="not", operand=operand):
            return frozenset(map(opposite, codes_of(operand, scope, depth + 1)))
        case ir.Bool(op="and", values=values):
            return frozenset({_only_if(_limit(codes_of(value, scope, depth + 1) for value in values))})
        case ir.Bool(values=values):
            return frozenset().union(*(codes_of(value, scope, depth + 1) for value in values))
        case ir.IfExp(test=test, body=body, orelse=orelse):
            first = test if codes_of(test, scope, depth + 1) == _CUDA else body
            return codes_of(first, scope, depth + 1) | codes_of(orelse, scope, depth + 1)
        case ir.Name(id=name):
            return _of_name(name, scope, depth) if len(scope.lookup(name)) <= _MOST_BINDINGS else ANY
        case ir.Call() if is_false_without_cuda(node):
            return _CUDA  # XLA003 or XLA004 reports it wherever it is kept
        case ir.Call(func=ir.Name(id="min"), args=args):
            given = [codes_of(arg.value, scope, depth + 1) for arg in args]
            return _CUDA if _CUDA in given else ANY
        case ir.Call(func=func, args=args) if path_of(func).rpartition(".")[2] in _FIELDS:
            default = next((a.value for a in args if a.keyword == "default"), None)
            return codes_of(default, scope, depth + 1) if default is not None else ANY
        case ir.Call(func=ir.Name(id=called), args=(ir.Arg(value=value),)) if called in _SAME:
            return ANY if isinstance(value, ir.Const) else codes_of(value, scope, depth + 1)
    if isinstance(node, ir.Attribute) and (member := member_text(node, scope)) is not None:
        return frozenset({code_of(member)})
    option = option_of(node)
    if not option:
        whole = whole_of(node)
        return ANY if whole is node else _within(codes_of(whole, scope, depth + 1))
    own = isinstance(node, ir.Attribute) and path_of(node) == f"self.{option}"
    if own and (value := value_above(node, option, scope)) is not None:
        return codes_of(value, scope, depth + 1)
    key = _own_key(option, scope) if own else entry_key(node)
    return frozenset({key}) | otherwise(node, scope, depth)


def unset_key(node: ir.Expr, scope: Scope) -> str:
    """Return the key of an expression of a variable of the environment, with its value while that is not set;
    "" for others."""
    if (unset := unset_value(node, scope)) is None:
        return ""
    return f"{ENTRY}{section_key(ENVIRONMENT, unset.variable)}{WHILE_UNSET}{code_of(unset.value)}"


def otherwise(node: ir.Expr, scope: Scope, depth: int = 0) -> Codes:
    """Return the codes of the default in `cfg.get("x", False)` and `getattr(cfg, "x", False)`."""
    match node:
        case (
            ir.Call(func=ir.Name(id="getattr"), args=(_, _, default))
            | ir.Call(func=ir.Attribute(attr="get" | "pop"), args=(_, default))
        ):
            return codes_of(default.value, scope, depth + 1)
    return frozenset()


def _of_name(name: str, scope: Scope, depth: int) -> Codes:
    """Return the codes of a name: a parameter and what the module or a class binds are options."""
    found: set[str] = set()
    bindings = scope.lookup(name)
    parts = [b for b in bindings if b.value is not None and is_part_of(b.value, name, b.scope)]
    for binding in bindings if len(parts) == len(bindings) else (b for b in bindings if b not in parts):
        own = binding.value is not None and option_of(binding.value) == name  # `n = float(n)`
        if binding.kind == "param":
            found.add(parameter_key(function_name(binder_of(bindings, name, scope)), name))
        elif binding.kind == "import" or binding.scope.kind != "function":
            found.add(_bound_key(name, binding.scope) if binding.kind != "opaque" else UNKNOWN)  # of a loop
        elif binding.kind != "value" or binding.value is None:
            found.add(UNKNOWN)
        elif not own or len(bindings) == 1:
            found |= codes_of(binding.value, binding.scope, depth + 1)
    return _within(found) if parts and found else frozenset(found or {GLOBAL + name})


def _within(codes: Iterable[str]) -> Codes:
    """Return the codes of parts of strings."""
    wholes = (code.removeprefix(WITHIN) for code in codes)
    return frozenset(UNKNOWN if is_constant(c) or c[0] in (NOT, ONLY_IF) else WITHIN + c for c in wholes)


def binder_of(bindings: list[Binding], name: str, scope: Scope) -> Scope:
    """Return the scope that holds the bindings which a use of a name sees."""
    while scope.bindings.get(name) is not bindings and scope.parent is not None:
        scope = scope.parent
    return scope


def code_of(value: object) -> str:
    """Return the code of a constant."""
    if value is None or value is True:
        return ON if value else NONE
    if isinstance(value, str):
        return TEXT + value if len(value) <= _LONGEST else UNKNOWN
    if value is False or (type(value) in (int, float) and value == 0):
        return OFF
    return f"{FINITE}{value}" if isinstance(value, int | float) else UNKNOWN


def opposite(code: str) -> str:
    """Return the code of `not value`."""
    if code in _OPPOSITES:
        return _OPPOSITES[code]
    if code[0] in (FINITE, TEXT):
        return OFF
    if code[0] in (UNKNOWN, ONLY_IF):
        return UNKNOWN
    return code[1:] if code[0] == NOT else NOT + code


def _limit(parts: Iterable[Codes]) -> str:
    """Return the code that keeps `a and b` from being true: that of an option, OFF or CUDA."""
    single = [code for codes in parts if len(codes) == 1 for code in codes]
    limits = [code for code in single if code in (OFF, CUDA) or not is_constant(code)]
    return next((code for code in limits if code == CUDA), limits[0] if limits else UNKNOWN)


def _only_if(code: str) -> str:
    if code in (OFF, CUDA) or code[0] in (ONLY_IF, UNKNOWN):
        return code
    return UNKNOWN if code[0] == NOT else ONLY_IF + code
