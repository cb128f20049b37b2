"""The fix strategies a page can name: what each writes, and the options it takes.

`xlamig.fix.strategies` holds the functions under the same names, and compares the two when it is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from xlamig.config.errors import did_you_mean
from xlamig.rulebook.errors import RulebookError, Where
from xlamig.rulebook.keys import no_such

_KINDS: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "true or false": (bool,),
    "a list": (list,),
    "a table": (dict,),
    "text or a list": (str, list),
    "text or a table": (str, dict),
    "text, a number or a truth value": (str, int, float, bool),
}
_TEXT, _FLAG, _LIST, _TABLE, _TEXTS, _PER_TARGET, _VALUE = _KINDS


@dataclass(frozen=True, slots=True)
class StrategyInfo:
    """`writes` completes "the fix ..." and may name an option; `options` maps each option to the kind
    of its value; one of the groups in `needs` has to be there as a whole."""

    writes: str
    options: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[tuple[str, ...], ...] = ((),)


_RENAME = {"replace": _PER_TARGET, "arguments": _TEXT, "accepts": _LIST}

STRATEGIES: Mapping[str, StrategyInfo] = MappingProxyType(
    {
        "accelerator": StrategyInfo(
            "replaces every query of `torch.accelerator` in the file by the device helper", {"others": _FLAG}
        ),
        "accumulate": StrategyInfo("adds the values up on the device and reads the sum once, after the loop"),
        "add-argument": StrategyInfo(
            "adds {argument}",
            {"argument": _TEXT, "source": _TEXT, "arguments": _TABLE},
            (("argument", "source"), ("arguments",)),
        ),
        "add-choice": StrategyInfo("adds `xla` to the choices of the option"),
        "adopt-device": StrategyInfo(
            "chooses a device below the imports, and moves models, inputs and targets there"
        ),
        "all-rows": StrategyInfo("computes the rows that are missing as well, and chooses by the mask"),
        "boundary-above-read": StrategyInfo("ends the step above the read, below the update"),
        "choose-on-device": StrategyInfo("chooses between the two tensors on the device"),
        "copy-from-device": StrategyInfo("moves the source to the tensor's device before it is copied"),
        "copy-to-host": StrategyInfo("copies the tensor to the host first"),
        "cuda-method": StrategyInfo("writes `.to(device)` instead of `.cuda()`"),
        "default-device": StrategyInfo("makes the program's device the default, and moves what ignores it"),
        "dense-experts": StrategyInfo("sends all tokens through each expert, and masks its results"),
        "device-argument": StrategyInfo(
            "passes the program's device as {argument}", {"argument": _TEXT}, (("argument",),)
        ),
        "device-field": StrategyInfo(
            "makes the field's default the program's device, chosen for each object"
        ),
        "device-flag": StrategyInfo(
            "asks for any accelerator where a name keeps whether CUDA is there, and moves what it decides",
            {"trusting": _FLAG},
        ),
        "device-literal": StrategyInfo("writes the program's device instead of the literal"),
        "device-move": StrategyInfo(
            "makes the move under the test go to the XLA device too", {"trusting": _FLAG}
        ),
        "device-of-rank": StrategyInfo("writes the XLA device where there is one, the rank's GPU elsewhere"),
        "device-of-tensor": StrategyInfo("moves what the test guards to the device of the tensor it asks"),
        "device-parameter": StrategyInfo("makes the default None, which the body replaces by the device"),
        "device-selection": StrategyInfo("calls the device helper instead of choosing between CUDA and CPU"),
        "device-setting": StrategyInfo("writes the program's device where the setting is a CUDA device"),
        "display": StrategyInfo("is shown, not written"),
        "drop-argument": StrategyInfo("drops {argument}", {"argument": _TEXTS}, (("argument",),)),
        "drop-assignment": StrategyInfo("deletes the assignment"),
        "drop-statement": StrategyInfo("deletes the statement"),
        "flag-first": StrategyInfo("tests a flag before the tensor"),
        "fresh-tensor": StrategyInfo("makes a new tensor of that size, and gives it the name"),
        "guard-statement": StrategyInfo("runs the statement only if {test}", {"test": _TEXT}, (("test",),)),
        "hard-mean": StrategyInfo("chooses the mean over hard examples on the device"),
        "index-select": StrategyInfo("writes `index_select` with the index as a tensor"),
        "keep-parameters": StrategyInfo("makes the move keep the identity of the parameters"),
        "lazy-log": StrategyInfo(
            "passes the values to the logger as arguments, which formats them if needed"
        ),
        "masked-count": StrategyInfo("counts all elements, with a spare index outside of the mask"),
        "indexed-error": StrategyInfo(
            "compares all elements, and copies the mask to the device instead of its indices",
            {"functions": _LIST, "modules": _LIST, "outside": _LIST, "finders": _LIST},
            (("functions", "modules"), ("outside",), ("finders",)),
        ),
        "masked-error": StrategyInfo(
            "compares all elements, with zeros outside of the mask on both sides",
            {"functions": _LIST, "modules": _LIST},
            (("functions", "modules"),),
        ),
        "masked-fill": StrategyInfo("writes `masked_fill` or `torch.where` instead of the masked assignment"),
        "masked-loss": StrategyInfo(
            "gives the loss all elements, and targets that it ignores",
            {"functions": _LIST, "modules": _LIST},
            (("functions", "modules"),),
        ),
        "masked-rows": StrategyInfo("keeps all rows, with zeros outside of the mask, for sums"),
        "masked-sum": StrategyInfo("multiplies by the mask, or counts it, instead of selecting"),
        "move-first": StrategyInfo("moves the module above the construction of the optimizer"),
        "move-to-device": StrategyInfo("moves the tensor where its name gets it, or where it is passed"),
        "on-xla-instead": StrategyInfo(
            "takes `{value}` on XLA and asks as before elsewhere",
            {"value": _TEXT, "in-text": _FLAG},
            (("value",),),
        ),
        "pad-to-multiple": StrategyInfo(
            "pads the batch further, to a multiple of {multiple}", {"multiple": _VALUE}, (("multiple",),)
        ),
        "padded-rnn": StrategyInfo("runs the RNN on the padded batch and its lengths"),
        "read-after-boundary": StrategyInfo(
            "moves what records the loss behind the step boundary", {"stops": _FLAG}
        ),
        "read-where-used": StrategyInfo("reads the value below the update, where its number is used"),
        "remove-suppression": StrategyInfo("removes the code from the comment"),
        "rename-api": StrategyInfo("writes {replace} instead", _RENAME),
        "rename-precision": StrategyInfo("renames the precision", {"words": _TABLE}, (("words",),)),
        "rename-where-passed": StrategyInfo(
            "imports {replace} instead", {"passes": _TABLE, **_RENAME}, (("passes",),)
        ),
        "replace-argument": StrategyInfo(
            "passes {argument}",
            {"argument": _TEXT, "value": _VALUE, "source": _TEXT},
            (("argument", "value"), ("argument", "source")),
        ),
        "replace-part": StrategyInfo("writes {text} instead", {"part": _TEXT, "text": _TEXT, "proof": _TEXT}),
        "rewrite-call": StrategyInfo(
            "writes {source} instead",
            {
                "source": _TEXT,
                "argument": _TEXT,
                "accepts": _LIST,
                "names": _LIST,
                "signature": _LIST,
                "breaks": _LIST,
                "method": _TEXT,
            },
            (("source",),),
        ),
        "round-up-longest": StrategyInfo(
            "rounds the length of the longest sample up to a multiple of {multiple}",
            {"multiple": _VALUE},
            (("multiple",),),
        ),
        "run-on-host": StrategyInfo("runs the function on copies of its tensors on the host"),
        "seed-xla": StrategyInfo("adds `torch_xla.manual_seed` below the statement"),
        "stack-scalars": StrategyInfo("stacks the scalars on the device instead of reading each"),
        "step-boundary": StrategyInfo("adds a step boundary at the end of the step"),
        "tensor-exponent": StrategyInfo("makes the exponent a tensor"),
        "tensor-index": StrategyInfo("indexes on the device"),
        "tensor-type": StrategyInfo(
            "writes the host's tensor type and moves what it makes or converts", {"trusting": _FLAG}
        ),
        "tested-move": StrategyInfo("moves to the tested device where that is not CUDA"),
        "use-helper": StrategyInfo(
            "calls {function} of the helper instead",
            {"function": _TEXT, "receiver": _FLAG},
            (("function",),),
        ),
        "wrap-callee": StrategyInfo(
            "passes what is called through `{function}` of the helper", {"function": _TEXT}, (("function",),)
        ),
        "xm-barrier": StrategyInfo("adds `barrier=True` to `xm.optimizer_step`"),
    }
)


_PLACEHOLDER = re.compile(r"\{(?:import )?([\w.]+)\}")


def writes(name: str, options: Mapping[str, Any]) -> str:
    """Return what a strategy writes, given the options of a page."""
    value = options.get("source", options.get("value"))
    given = {
        key: f"`{_code(str(option))}`" for key, option in options.items() if isinstance(option, str | int)
    }
    match options.get("argument"), options.get("arguments"):
        case list() as several, _:
            given["argument"] = " and ".join(f"`{one}`" for one in several)
        case str() as one, _ if value is not None:
            given["argument"] = f"`{one}={_code(value) if 'source' in options else repr(value)}`"
        case None, dict() as table:
            given["argument"] = " and ".join(f"`{key}={_code(source)}`" for key, source in table.items())
    known = {"replace": "the successor's name", "text": "the replacement", "argument": "the value"}
    return STRATEGIES[name].writes.format_map(known | given)


def _code(source: str) -> str:
    """The text of a template, its placeholders as plain names."""
    return _PLACEHOLDER.sub(r"\1", source).replace("{{", "{").replace("}}", "}")


def check_registered(written: Collection[str]) -> None:
    """Raise RulebookError for a strategy that is described and not written, or written and not described."""
    for name in sorted(STRATEGIES.keys() ^ set(written)):
        file = "fix/strategies/__init__.py" if name in STRATEGIES else "rulebook/strategies.py"
        raise RulebookError(f'src/xlamig/{file}: STRATEGIES lacks "{name}"')


def check_strategy(name: str, options: Mapping[str, Any], where: Where) -> None:
    """Raise RulebookError for an unknown strategy, and for options that it does not take or lacks."""
    info = STRATEGIES.get(name)
    if info is None:
        raise where.at("strategy").error(no_such(name, STRATEGIES))
    for option, value in options.items():
        here = where.at(option)
        kind = info.options.get(option)
        if kind is None:
            known = ("strategy", "applicability", "target", "style", "requires", "title", "when")
            hint = did_you_mean(option, (*info.options, *known))
            raise here.error(f"{name} has no such option{hint}")
        if type(value) not in _KINDS[kind]:
            raise here.error(f"has to be {kind}, not {value!r}")
    if not any(options.keys() >= set(group) for group in info.needs):
        groups = " or ".join(" with ".join(f'"{key}"' for key in group) for group in info.needs)
        raise where.error(f"{name} needs {groups}")
