"""The common fields of facts: places, surroundings, arguments."""

from __future__ import annotations

import pytest
from reading import facts_in, read, uses

from xlamig.facts import ApiUse, Fact

PLACES = """
import torch

class Trainer:
    @torch.no_grad()
    def fit(self, model, é="ü"):
        for step in range(3):
            out = model.eval( ).cuda( 0 , non_blocking = True ) ; torch.cuda.synchronize()
            with torch.autocast(
                device_type="cuda",  # why
            ):
                pass
"""


def the(source: str, name: str) -> ApiUse:
    (fact,) = [fact for fact in facts_in(source, ApiUse) if fact.name == name]
    return fact


@pytest.mark.parametrize(
    ("text", "divides"),
    [
        ("x = 8 // torch.cuda.device_count()", True),
        ("x = rank % torch.cuda.device_count()", True),
        ("x /= torch.cuda.device_count()", True),
        ("x = 8 // max(1, torch.cuda.device_count())", False),
        ("x = torch.cuda.device_count() // 2", False),
        ("x += torch.cuda.device_count()", False),
        ("x = 8 * torch.cuda.device_count()", False),
        ("print('%d devices' % torch.cuda.device_count())", False),
    ],
)
def test_a_divisor_is_one_only_by_itself(text: str, divides: bool) -> None:
    use = the(f"import torch\n{text}\n".replace("device_count", "synchronize"), "torch.cuda.synchronize")
    assert ("divisor" in use.context) is divides


def test_spans_and_parts_are_the_texts_they_say() -> None:
    use = the(PLACES, "unknown.cuda")
    text = PLACES.__getitem__
    call = "model.eval( ).cuda( 0 , non_blocking = True )"
    assert text(slice(*use.span)) == text(slice(*use.parts["call"])) == call
    assert text(slice(*use.statement)) == f"out = {call}"
    assert text(slice(*use.parts["callee"])) == "model.eval( ).cuda"
    assert text(slice(*use.parts["receiver"])) == "model.eval( )"
    assert text(slice(*use.parts["arguments"])) == " 0 , non_blocking = True "
    assert use.spelled == "model.eval( ).cuda"


def test_arguments_know_their_places() -> None:
    index, flag = the(PLACES, "unknown.cuda").args
    assert [PLACES[slice(*arg.span)] for arg in (index, flag)] == ["0", "non_blocking = True"]
    assert PLACES[slice(*flag.value_span)] == "True"
    assert (index.name, index.keyword, flag.name, flag.keyword) == ("device", False, "non_blocking", True)
    (device,) = the(PLACES, "torch.autocast").args
    assert PLACES[slice(*device.span)] == 'device_type="cuda"'


def test_a_cut_argument_leaves_a_call() -> None:
    for use in facts_in(PLACES, ApiUse):
        for argument in use.args:
            start, end = argument.cut
            compile(PLACES[:start] + PLACES[end:], "cut", "exec")


@pytest.mark.parametrize(
    ("arguments", "names", "complete"),
    [
        ("f", ["f"], True),
        ("f, x", ["f", "map_location"], True),
        ("f, x, y", ["f", "map_location", "2"], True),
        ("f=f, other=1", ["f", "other"], True),
        ("*a", [], False),
        ("f, *a, x", ["f", "2"], False),
        ("*a, x", ["1"], False),
        ("f, **k", ["f"], False),
    ],
)
def test_arguments_by_parameter(arguments: str, names: list[str], complete: bool) -> None:
    use = the(f"import torch\ntorch.load({arguments})", "torch.load")
    assert [argument.name for argument in use.args] == names
    assert use.complete is complete


@pytest.mark.parametrize(
    ("source", "scope"),
    [
        ("HERE", ""),
        ("def f(): HERE", "f"),
        ("class A: HERE", "A"),
        ("class A:\n def f(self): HERE", "A.f"),
        ("def f():\n class A:\n  def g(self): HERE", "f.A.g"),
        ("def f(): return [HERE for a in b]", "f"),
        ("f = lambda: HERE", ""),
        ("@HERE\ndef f(): pass", ""),
    ],
)
def test_the_scope_of_a_fact(source: str, scope: str) -> None:
    (use,) = facts_in(f"import torch\n{source}".replace("HERE", "torch.cuda.synchronize()"), ApiUse)
    assert use.scope == scope


@pytest.mark.parametrize(
    ("source", "context"),
    [
        ("HERE", set()),
        ("def f(): HERE", set()),
        ("with torch.no_grad(): HERE", {"no-grad"}),
        ("with torch.inference_mode(), x: HERE", {"no-grad"}),
        ("with torch.enable_grad(): HERE", set()),
        ("with torch.no_grad(): pass\nHERE", set()),
        ("@torch.no_grad()\ndef f(): HERE", {"no-grad"}),
        ("@torch.no_grad\ndef f(): HERE", {"no-grad"}),
        ("@torch.no_grad()\ndef f(): pass\ndef g(): HERE", set()),
        ("for a in b: HERE", {"loop"}),
        ("while a: HERE", {"loop"}),
        ("for a in HERE: pass", set()),
        ("for a in b: pass\nelse: HERE", set()),
        ("for a in b:\n def f(): HERE", set()),
        ("def f(a=HERE): pass", {"default-argument"}),
        ("def f(*, a=HERE): pass", {"default-argument"}),
        ("for a in b:\n with torch.no_grad():\n  HERE", {"loop", "no-grad"}),
        ("class F(torch.autograd.Function):\n def forward(ctx, x): HERE", {"forward", "no-grad", "per-step"}),
        ("class F(torch.nn.Module):\n def forward(self, x): HERE", {"forward", "per-step"}),
    ],
)
def test_the_context_of_a_fact(source: str, context: set[str]) -> None:
    (use,) = facts_in(f"import torch\n{source}".replace("HERE", "torch.compile()"), ApiUse)
    assert use.context == context


def test_a_program_that_names_cuda_is_a_cuda_program() -> None:
    (plain,) = facts_in("import torch\ntorch.compile()", ApiUse)
    (other,) = facts_in("import torch\ntorch.compile()  # on cuda", ApiUse)
    assert other.context - plain.context == {"cuda-program"}


def test_the_context_of_the_file_holds_everywhere() -> None:
    given = frozenset({"test-code"})
    facts = read("import torch\ntorch.compile()\ndef f(): torch.compile()", context=given).facts
    assert [fact.context for fact in facts] == [given, given]


def test_facts_come_in_source_order() -> None:
    source = (
        "import torch\ndef f(a=x.cuda('cuda')):\n @torch.compile\n def g(): y.to('cuda').cuda()\nx.cuda()"
    )
    spans = [fact.span for fact in read(source).facts]
    assert len(spans) > 4
    assert spans == sorted(spans)


def test_sites_count_calls_into_torch() -> None:
    assert read("import torch\ntorch.zeros(1)\nprint(torch.pi)\nx.cuda()").sites == 1


def test_a_call_inside_another_is_told_as_well() -> None:
    source = "import torch\ntorch.cuda.synchronize(torch.cuda.synchronize(x.cuda()))"
    assert uses(source) == ["torch.cuda.synchronize", "torch.cuda.synchronize", "unknown.cuda"]


@pytest.mark.parametrize("source", ["f(attn_implementation='x')", "a.b(1, attn_implementation=x)(2)"])
def test_a_known_keyword_makes_a_use_of_any_call(source: str) -> None:
    (use,) = facts_in(source, ApiUse)
    assert use.name == "unknown"
    assert use.argument("attn_implementation") is not None


@pytest.mark.parametrize(
    ("base", "value", "count"),
    [
        ("transformers.TrainingArguments", "'x'", 1),
        ("TrainingArguments", "field(default='x', metadata={})", 1),
        ("Settings", "'x'", 0),
    ],
)
def test_a_default_of_a_class_of_arguments_sets(base: str, value: str, count: int) -> None:
    uses = facts_in(f"class A({base}):\n    attn_implementation: str = {value}", ApiUse)
    assert [use.argument("attn_implementation").value.value for use in uses] == ["x"] * count


def test_a_keyword_in_a_dictionary_is_an_argument_too() -> None:
    (use,) = facts_in("kwargs['attn_implementation'] = 'x'", ApiUse)
    assert use.argument("attn_implementation") is not None


def test_nothing_of_no_interest_is_told() -> None:
    facts: list[Fact] = read("import torch\ntorch.zeros(1).numpy()\ntorch.backends.mps.is_built()").facts
    assert facts == []


def test_what_is_handed_on_under_its_own_name_is_seen() -> None:
    source = "import torch\nhooks = dict(synchronize=torch.cuda.synchronize)\n"
    assert the(source, "torch.cuda.synchronize").via == "reference"
