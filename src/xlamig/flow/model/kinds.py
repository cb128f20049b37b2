"""The kind of object that a class or function makes, or that a name promises: one answer for all of flow."""

from __future__ import annotations

import re
from functools import cache

from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_WORDS = {
    "module": "module", "wrapped-module": "module", "optimizer": "optimizer", "host-tensor": "tensor",
    "sparse-tensor": "tensor", "device-tensor": "tensor", "tensor": "tensor", "parameter": "tensor",
    "scalar": "tensor",
}  # fmt: skip
"""The words of `values.toml` that tell such a kind."""

_MODULE = re.compile(r"^torch\.nn\.|(?:^|\.)\w*(?:Module|Model)$")
_TRAINER = re.compile(r"(?:^|\.)\w*Trainer$")
_OTHER_LIBRARY = re.compile(
    r"^(?:pydantic|django|keras|tensorflow|tf|flax|haiku|jax|sqlmodel|sklearn|peewee)\b"
)


@cache
def made_by(dotted: str) -> str:
    """Return what a call of a canonical name makes: "module", "optimizer", "tensor"; "" for anything else."""
    word = table.result_of(dotted)
    if word not in ("", "signature", "first", "copy"):
        return _WORDS.get(word, "")
    returns = signatures.returns(dotted)
    if "module" in returns:
        return "module"
    return "tensor" if returns == {"tensor"} else ""


def is_module_class(dotted: str) -> bool:
    """Return whether a base class of this name makes a class a module."""
    return _MODULE.search(dotted) is not None and not is_of_other_library(dotted)


def is_wrapper_class(dotted: str) -> bool:
    """Return whether an object of a class of this name runs the module that it is given."""
    return table.result_of(dotted) == "wrapped-module"


def is_distribution_class(dotted: str) -> bool:
    """Return whether a base class of this name makes a class a distribution of torch."""
    return table.result_of(dotted) == "distribution"


def is_trainer_class(dotted: str) -> bool:
    """Return whether a class of this name runs the steps of a program."""
    return _TRAINER.search(dotted) is not None


def is_of_other_library(dotted: str) -> bool:
    """Return whether a class is one of a library whose models are no modules of torch."""
    return _OTHER_LIBRARY.search(dotted) is not None


def is_optimizer_name(name: str) -> bool:
    """Return whether a variable of this name holds an optimizer."""
    return table.name_like("optimizer").search(name) is not None


def is_optimizer_or_scaler_name(name: str) -> bool:
    """Return whether `name.step()` is an update: of an optimizer, or of a gradient scaler."""
    return is_optimizer_name(name) or name.lower().endswith("scaler")
