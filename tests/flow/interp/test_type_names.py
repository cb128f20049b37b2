"""`y.type(x.type())` and `y.type_as(x)`: where the type of another tensor moves a tensor to."""

from __future__ import annotations

import pytest

from xlamig.facts import ApiUse, Interest
from xlamig.flow import facts_of
from xlamig.syntax import module_from_text

from .said import IMPORTS, STEP, in_step, said

INTEREST = Interest(
    kinds=frozenset({"api-use"}),
    names=frozenset({"Tensor.type", "unknown.type"}),
    methods=frozenset({"type"}),
)

RAISES = {
    "a tensor of the device": "z = x.long().type(x.type())",
    "a tensor of the host": "z = torch.zeros(3).type(x.type())",
    "a name in a variable": "name = x.type()\nz = torch.arange(3).view(1, -1).type(name)",
    "a parameter": "def grid(n, dtype): return torch.arange(n).type(dtype)\nz = grid(3, x.type())",
    "a keyword": "def grid(n, dtype): return torch.arange(n).type(dtype)\nz = grid(3, dtype=x.type())",
    "the name of a result": "y = x * 2\nz = torch.zeros(3).type(y.type())",
    "a name that another call does not know": "def grid(n, dtype): return torch.arange(n).type(dtype)\n"
    "grid(3, extra.kind)\nz = grid(3, x.type())\nz = grid(3, extra.kind)",
}
CONVERTS = {
    "the name of a tensor of the host": "z = x.type(torch.ones(3).type())",
    "the name of what was copied to the host": "z = torch.zeros(3).type(x.cpu().type())",
    "a dtype": "z = torch.zeros(3).type(x.dtype)",
    "a tensor": "z = torch.zeros(3).type_as(x)",
    "a dtype in a parameter": "def grid(n, dtype): return torch.arange(n).type(dtype)\nz = grid(3, x.dtype)",
    "a name that is compared": "z = torch.zeros(3) if x.type() == 'torch.FloatTensor' else x",
    "an object with a type": "z = torch.zeros(3).type(extra.type())",
}
MOVED = {
    "z = torch.zeros(3).type_as(x).sum(); z.item()": "host-read item: z.item()",
    "z = torch.zeros(3).type_as(loss * 2); z.tolist()": "host-read item: z.tolist()",
}
NOT_MOVED = (
    "z = torch.zeros(3).type_as(torch.ones(3)).sum(); z.item()",
    "z = torch.zeros(3).type(torch.ones(3).type()).sum(); z.item()",
    "z = x.type_as(loss)",
    "z = x.type_as(model.buffer)",
    "z = x.type_as(torch.ones(3))",
    "z = torch.zeros(3).type_as(extra).sum(); z.item()",
)


def proved(body: str) -> bool:
    """Return whether a conversion in a training step is proved to get the name of a type on the device."""
    lines = body.replace("\n", "\n        ")
    text = IMPORTS + STEP.replace("BODY", lines)
    found = facts_of(module_from_text(text), text, "train", False, INTEREST, {}).facts
    return any(isinstance(fact, ApiUse) and "type-name" in fact.proofs for fact in found)


@pytest.mark.parametrize("case", RAISES)
def test_the_name_of_a_type_on_the_device_raises(case: str) -> None:
    assert proved(RAISES[case])


@pytest.mark.parametrize("case", CONVERTS)
def test_other_types_convert(case: str) -> None:
    assert not proved(CONVERTS[case])


@pytest.mark.parametrize("code", MOVED)
def test_a_tensor_goes_where_the_other_is(code: str) -> None:
    assert MOVED[code] in in_step(code, "host-read")


@pytest.mark.parametrize("code", NOT_MOVED)
def test_a_tensor_stays_where_both_are(code: str) -> None:
    assert in_step(code, "host-read") == []


def test_a_method_gets_the_name_from_another() -> None:
    text = """
    class Head(nn.Module):
        def forward(self, xin, labels=None):
            outputs = []
            for k, x in enumerate(xin):
                x = self.stems[k](x)
                outputs.append(self.decode(x, xin[0].type()))
            return outputs

        def decode(self, output, kind):
            grid = torch.stack([torch.arange(3), torch.arange(3)], 1).type(kind)
            if grid.sum() > 3:
                return output
            return output + grid
    """
    assert "host-read truth: grid.sum() > 3" in said(text, "host-read")
