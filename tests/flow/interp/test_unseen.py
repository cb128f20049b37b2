"""Results of functions that the project does not show."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead, Interest
from xlamig.flow import facts_of
from xlamig.syntax import module_from_text

from .said import in_step, said

HELPERS = "from helpers import evaluate, helper, Meter\n"
SILENT = {
    "what arrays have too": "z = helper(x).mean(); print(z); len(z)",
    "containers": "z = helper(x); z.items(); z.get('loss'); z.index(3); [n for n in z]",
    "text": "z = f'{helper(x)}' + str(helper(x)); print(helper(model))",
    "numbers": "z = helper(x); float(z) + 1; z > 3",
    "an object": "z = Meter(x); z.item(); z.cpu()",
    "a model of tensors on the host": "z = helper(torch.ones(3)); z.item(); z.tolist()",
    "a name that reads, of nothing on the device": "import utils; utils.item(3); utils.to_np(torch.ones(3))",
    "a name that reads, whose first argument is no tensor": "import utils; utils.to_np('f', x)",
    "made for a device alone": "z = helper(3, device=x.device); z.mean().item()",
    "made of a type alone": "z = helper(3, dtype=x.dtype); z.mean().item()",
    "a model": "z = helper(model); z = z.to(device); z.eval(); z.float()",
    "texts that it makes": "for z in helper(x):\n    z = z.replace('a', 'b')\n    if z.lower(): print(z)",
    "texts before a method shows it": "for z in helper(x):\n    print(z)\n    if z.startswith('a'): pass",
    "nothing of tensors": "z = helper('path', 3); z.item",
}
SAID = {
    "helper(x).item()": "host-read item: helper(x).item()",
    "z = helper(3, device=x.device, dtype=x.dtype); z.mean().item()": "host-read item: z.mean().item()",
    "import utils; n = utils.item(x.sum())": "host-read item: utils.item(x.sum())",
    "from utils import tensor2numpy; n = tensor2numpy(x)": "host-read copy: tensor2numpy(x)",
    "from utils import tensor2img; n = tensor2img(x, rgb=True, min_max=(0, 1))": (
        "host-read copy: tensor2img(x, rgb=True, min_max=(0, 1))"
    ),
    "z = helper(model, x)['loss'].mean(); z.item()": "host-read item: z.item()",
    "z, other = helper(x); z[0].tolist()": "host-read item: z[0].tolist()",
    "z = helper(x).logits; z.detach().cpu()": "host-read copy: z.detach().cpu()",
    "z = evaluate(); print(z.item()); (z / 4).backward()": "host-read item: z.item()",
    "z = evaluate(); z.item(); engine.backward(z)": "host-read item: z.item()",
    "z = evaluate(); z.item(); scaler.scale(z).backward()": "host-read item: z.item()",
    "for z in helper(x):\n    if z.unsqueeze(0).sum() > 3: pass": "host-read truth: z.unsqueeze(0).sum() > 3",
    "if torch.all(helper(x)): pass": "host-read truth: torch.all(helper(x))",
    "z = helper(x[x > 0]); torch.zeros(z.shape[0], device=device)": "dynamic-shape derived: z.shape[0]",
}


@pytest.mark.parametrize("case", SILENT)
def test_it_may_be_anything(case: str) -> None:
    assert in_step(HELPERS + SILENT[case]) == []


@pytest.mark.parametrize("code", SAID)
def test_it_is_a_tensor(code: str) -> None:
    assert SAID[code] in in_step(HELPERS + code)


LOADED = """
from lib import build
device = torch.device("xla")
LINE
for epoch in range(9):
    y = net(torch.ones(3, device=device))
    USE
    torch_xla.sync()
"""
MODELS = ["net = build().eval().to(device)", "net = build().to(device)", "net = build(); net.eval()"]
OF_MODELS = ["net.hparams.size", "net.names", "net.helper.describe(y)"]


@pytest.mark.parametrize("line", MODELS)
@pytest.mark.parametrize("use", OF_MODELS)
def test_what_a_model_of_unknown_make_has_and_gives_may_be_anything(line: str, use: str) -> None:
    text = LOADED.replace("LINE", line).replace("USE", f"z = {use}; print(z); print(f'{{z}}')")
    assert said(text, "host-read") == []


@pytest.mark.parametrize("line", MODELS)
def test_what_a_model_of_unknown_make_computes_is_a_tensor(line: str) -> None:
    text = LOADED.replace("LINE", line).replace("USE", "print(y.sum().item())")
    assert said(text, "host-read") == ["host-read item: y.sum().item()"]


def test_what_its_tokenizer_decodes_is_read_there_and_is_text() -> None:
    text = LOADED.replace("LINE", MODELS[0]).replace("USE", "z = net.tokenizer.decode(y); print(z[0])")
    assert said(text, "host-read") == ["host-read copy: net.tokenizer.decode(y)"]


def test_a_batch_that_is_moved_is_no_model() -> None:
    text = LOADED.replace("LINE", "net = build().eval()").replace("USE", "x = build().to(device); print(x)")
    assert said(text, "host-read") == ["host-read format: x"]


def test_a_forward_pass_of_a_file_that_does_not_name_the_library() -> None:
    text = "from base import Criterion\nimport utils\n\n"
    text += "class Loss(Criterion):\n    def METHOD(self, model, x):\n"
    text += "        return {'loss': utils.item(model(x).sum())}\n"
    for method, found in (("forward", ["item"]), ("compute", [])):
        whole = text.replace("METHOD", method)
        facts = facts_of(module_from_text(whole), whole, "loss", False, Interest(), {}).facts
        assert [fact.via for fact in facts if isinstance(fact, HostRead)] == found


TRIED = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)

    def forward(self, x):
        return self.first(x).sum().item() + x.max().item()

WHERE
net = Net()
net(torch.rand(2, 3))
"""


def test_a_forward_pass_that_is_tried_once_on_the_host() -> None:
    tried = said(TRIED.replace("WHERE", ""), "host-read")
    assert tried == ["host-read item: self.first(x).sum().item()", "host-read item: x.max().item()"]


def test_one_that_runs_on_the_host_in_each_step() -> None:
    loop = "optimizer = torch.optim.SGD(Net().parameters(), lr=0.1)\ndef train(loader):\n    net = Net()\n"
    loop += "    for x in loader:\n        net(torch.rand(2, 3))\n        optimizer.step()\ntrain([1])"
    assert said(TRIED.replace("WHERE", loop), "host-read") == []


PROVED = """
class Net(nn.Module):
    def __init__(self, head):
        super().__init__()
        self.head = head

    def forward(self, x):
        hidden = self.head(x)[0]
        scale = hidden.size(-1)
        USE
        if hidden.sum() > 0:
            return x
        return hidden * scale
"""


@pytest.mark.parametrize("use", ["index = hidden.gather(0, x)", "hidden = hidden.unsqueeze(0)"])
def test_a_method_that_only_tensors_have_proves_its_receiver(use: str) -> None:
    text = PROVED.replace("self.head(x)[0]", "combine(x)")
    assert "host-read truth: hidden.sum() > 0" in said(text.replace("USE", use))


def test_a_method_that_other_types_have_proves_nothing() -> None:
    text = PROVED.replace("self.head(x)[0]", "combine(x)").replace("hidden.size(-1)", "2")
    assert said(text.replace("USE", "index = hidden.copy()"), "host-read") == []


SIZED = """
def average(values, count: COUNT):
    total = values.gather(0, values)
    if values.size(-1) > 4:
        total = total.sum(-1)
    if count > 0:
        return total.sum().item()
    return 0.0

class Loss(nn.Module):
    def forward(self, x, count):
        return average(x, count)
"""


@pytest.mark.parametrize("count", ["int", "int | float", "Union[int, List[int]]"])
def test_a_parameter_that_is_annotated_with_types_of_python_is_no_tensor(count: str) -> None:
    assert not [line for line in said(SIZED.replace("COUNT", count), sure=False) if "count > 0" in line]


def test_a_parameter_that_may_be_a_tensor_by_its_annotation_may_be_one() -> None:
    found = said(SIZED.replace("COUNT", "Union[int, Tensor]"), sure=False)
    assert any("count > 0" in line for line in found)
