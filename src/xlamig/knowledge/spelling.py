"""How people write the name of an operator, and what they may mean."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

_SHORT = {
    "F": "torch.nn.functional",
    "functional": "torch.nn.functional",
    "nn": "torch.nn",
    "linalg": "torch.linalg",
    "special": "torch.special",
    "fft": "torch.fft",
    "th": "torch",
    "tensor": "Tensor",
}
_HOMES = ("torch", "torch.nn.functional", "Tensor", "torch.nn", "torch.linalg", "torch.special", "torch.fft")
# A method is the operator itself, a function of this name may be another: F.unfold is aten::im2col.
_HOMES_OF_ATEN = ("torch", "Tensor", *(home for home in _HOMES if home not in ("torch", "Tensor")))
_MODULE_PATH = "nn.modules."
_FOREIGN = frozenset({"np", "numpy", "math", "scipy", "pd", "pandas", "jnp", "jax", "tf", "cupy", "builtins"})


def candidates(name: str) -> Iterator[str]:
    """Canonical names that `name` may stand for, likeliest first."""
    plain = "".join(name.split()).partition("(")[0]
    if plain.startswith(("aten::", "torch.ops.aten.", "aten.")):
        base = plain.removeprefix("torch.ops.").removeprefix("aten").lstrip(":.").partition(".")[0]
        yield from _bare(base, _HOMES_OF_ATEN)
        yield from _bare(base.removesuffix("_"), _HOMES_OF_ATEN)
        return
    plain = plain.replace("torch.Tensor.", "Tensor.").removeprefix(".")
    if _MODULE_PATH in plain:  # torch.nn.modules.upsampling.Upsample
        plain = f"torch.nn.{plain.rpartition('.')[2]}"
    head, dot, rest = plain.partition(".")
    if not dot:
        yield from _bare(plain)
        return
    yield plain
    if head in _SHORT:
        yield f"{_SHORT[head]}.{rest}"
    if head not in (*_FOREIGN, "torch", "Tensor") and "." not in rest:
        yield f"Tensor.{rest}"


def aten_name(name: str) -> str:
    """`aten::median.dim` for the ways in which an aten operator is written, else ""."""
    plain = "".join(name.split()).partition("(")[0]
    for prefix in ("aten::", "torch.ops.aten.", "ops.aten.", "aten."):
        if plain.startswith(prefix):
            base, _, overload = plain.removeprefix(prefix).partition(".")
            return f"aten::{base}" + (f".{overload}" if overload and overload != "default" else "")
    return ""


def namesakes(name: str) -> Iterator[str]:
    """Other canonical names that a bare word may stand for."""
    word = "".join(name.split()).partition("(")[0]
    return _bare(word) if word.isidentifier() else iter(())


def _bare(word: str, homes: Iterable[str] = _HOMES) -> Iterator[str]:
    for home in homes:
        yield f"{home}.{word}"
    if "_" in word:  # aten::linalg_inv, aten::special_i0e, aten::fft_fft
        family, _, rest = word.partition("_")
        if family in ("linalg", "special", "fft"):
            yield f"torch.{family}.{rest}"


def nearest(name: str, known: Iterable[str], count: int) -> tuple[str, ...]:
    """Known names that look like `name`; the last part counts most."""
    word = name.rpartition(".")[2].rpartition(":")[2].lower()
    by_word: dict[str, list[str]] = {}
    for full in known:
        by_word.setdefault(full.rpartition(".")[2].lower(), []).append(full)
    words = difflib.get_close_matches(word, by_word, n=count, cutoff=0.7)
    found = [full for near in words for full in by_word[near]]
    home = name.rpartition(".")[0]
    found.sort(
        key=lambda full: (words.index(full.rpartition(".")[2].lower()), full.rpartition(".")[0] != home)
    )
    return tuple(found[:count])
