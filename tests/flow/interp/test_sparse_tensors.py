from __future__ import annotations

import pytest

from xlamig.facts import ApiUse, Interest
from xlamig.flow import facts_of
from xlamig.syntax import module_from_text

from .said import IMPORTS

INTEREST = Interest(
    kinds=frozenset({"api-use"}),
    names=frozenset({"Tensor.cuda", "unknown.cuda"}),
    methods=frozenset({"cuda"}),
)

TWO = """
def moved(x):
    return x.cuda()

def main(indices, values):
    moved(torch.sparse_coo_tensor(indices, values, (2, 2)))
    moved(torch.ones(2, 2))

main(torch.zeros(2, 2, dtype=torch.long), torch.ones(2))
"""


def _moves_sparse(text: str) -> bool:
    whole = IMPORTS + text
    found = facts_of(module_from_text(whole), whole, "train", False, INTEREST, {}).facts
    assert found
    return any(isinstance(fact, ApiUse) and "sparse" in fact.proofs for fact in found)


@pytest.mark.parametrize(
    "made",
    [
        "graph.to_dense()",
        "torch.sparse.mm(graph, graph.to_dense())",
        "graph.coalesce().indices()",
        "graph @ x",
    ],
)
def test_leaves_dense_tensors_that_come_of_sparse_ones(made: str) -> None:
    start = "x = torch.ones(2, 2)\ngraph = torch.eye(2).to_sparse()\n"
    assert not _moves_sparse(f"{start}y = {made}\ny.cuda()\n")


def test_leaves_a_move_of_sparse_and_dense_tensors() -> None:
    assert not _moves_sparse(TWO)


@pytest.mark.parametrize(
    "kept", ["graph", "graph.coalesce()", "graph.t().float()", "graph.detach().to(torch.float32)"]
)
def test_knows_the_move_of_a_sparse_tensor(kept: str) -> None:
    assert _moves_sparse(f"graph = torch.eye(2).to_sparse()\ny = {kept}\ny.cuda()\n")


def test_knows_a_sparse_tensor_that_a_function_returns() -> None:
    assert _moves_sparse(TWO.replace("    moved(torch.ones(2, 2))\n", ""))
