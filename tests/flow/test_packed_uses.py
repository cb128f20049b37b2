"""Uses of packed sequences that no recurrent module gets."""

from __future__ import annotations

import pytest

from xlamig.facts import ApiUse, Interest
from xlamig.flow import facts_of
from xlamig.syntax import module_from_text

PACK = "torch.nn.utils.rnn.pack_padded_sequence"

PROGRAM = """
from torch.nn.utils.rnn import pack_padded_sequence as pack, pad_packed_sequence as pad
def run(x, lengths, rnn, keep):
    BODY
"""


def use(body: str) -> list[str]:
    """Return the proofs of how the packed sequence is used."""
    text = PROGRAM.replace("BODY", body.replace("; ", "\n    "))
    interest = Interest(names=frozenset({PACK}))
    facts = facts_of(module_from_text(text), text, "train", False, interest, {}).facts
    found = [fact for fact in facts if isinstance(fact, ApiUse) and fact.via == "call"]
    return [name for one in found for name in ("rows", "unpacked") if one.proofs.get(name)]


@pytest.mark.parametrize(
    ("body", "proofs"),
    [
        ("return pack(x, lengths).data", ["rows"]),
        ("return pack(x, lengths)[0]", ["rows"]),
        ("rows, *_ = pack(x, lengths); return rows", ["rows"]),
        ("p = pack(x, lengths); return p.data", ["rows"]),
        ("return pad(pack(x, lengths))", ["unpacked"]),
        ("x = pack(x, lengths); x = pad(x)[0]; return rnn(x)", ["unpacked"]),
        ("p = pack(x, lengths); return p.data, pad(p)", ["unpacked"]),
        ("return rnn(pack(x, lengths))", []),
        ("p = pack(x, lengths); out, h = rnn(p); return pad(out)", []),
        ("p = pack(x, lengths); p = rnn(p)[0]; return p.data", []),
        ("p = pack(x, lengths); return p", []),
        ("keep.p = pack(x, lengths)", []),
        ("p = pack(x, lengths); return p.batch_sizes, p.data", []),
    ],
)
def test_tells_what_only_the_rows_are_taken_of(body: str, proofs: list[str]) -> None:
    assert use(body) == proofs
