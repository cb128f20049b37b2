"""Objects of other libraries: caches that grow, collectives of frameworks, progress bars, tokenizers."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import IMPORTS, facts, in_step, said

ACCELERATE = "from accelerate import Accelerator\n"
CACHE = "from transformers import DynamicCache\n"
FABRIC = "from lightning.fabric import Fabric\nf = Fabric(); net = nn.Linear(8, 8); "
PICTURES = "import wandb\nfrom torchvision.utils import make_grid, save_image\n"
TOKENIZER = "from transformers import AutoTokenizer\n"
SILENT = {
    "an autoencoder": "z = vae.decode(x); z = self_like.first_stage_model.decode(x)",
    "a static cache": "from transformers import StaticCache\nc = StaticCache(4); c.update(1, 2)",
    "numbers that are logged": ACCELERATE + "a = Accelerator(); a.log({'n': i}); a.print(i)",
    "a model that Fabric does not get": FABRIC + "o = f.setup(nn.ReLU()); net(torch.ones(8)).sum().item()",
    "a gathered tensor that is not read": ACCELERATE + "z = Accelerator().gather(x).mean()",
    "pictures of the host": PICTURES + "save_image(torch.zeros(3, 4, 4), 'a.png')",
    "a grid that is kept": PICTURES + "kept.append(make_grid(x))",
    "a length in another unit": "import pint\nq = pint.Quantity(3, 'm').to('cm'); float(q.magnitude)",
    "text": TOKENIZER + "t = AutoTokenizer.from_pretrained('a'); t.decode([1, 2])",
}
SAID = {
    ACCELERATE + "a = Accelerator(); a.gather(x).mean().item()": (
        "host-read item: a.gather(x).mean().item()"
    ),
    ACCELERATE + "Accelerator().log({'loss': loss})": "host-read format: {'loss': loss}",
    FABRIC + "net, o = f.setup(net, torch.optim.SGD(net.parameters(), 0.1)); net(batch).sum().item()": (
        "host-read item: net(batch).sum().item()"
    ),
    FABRIC + "net = f.setup_module(net); net(batch).sum().item()": "host-read item: net(batch).sum().item()",
    CACHE + "c = DynamicCache()": "changing-shape cache: DynamicCache()",
    CACHE + "c = DynamicCache.from_legacy_cache(extra)": (
        "changing-shape cache: DynamicCache.from_legacy_cache(extra)"
    ),
    PICTURES + "save_image(x, 'a.png')": "host-read copy: save_image(x, 'a.png')",
    PICTURES + "save_image([x, loss], 'a.png')": "host-read copy: save_image([x, loss], 'a.png')",
    PICTURES + "wandb.log({'a': wandb.Image(make_grid(x))})": "host-read copy: wandb.Image(make_grid(x))",
    TOKENIZER + "b = AutoTokenizer.from_pretrained('a')(y).to(x.device); b.input_ids.sum().item()": (
        "host-read item: b.input_ids.sum().item()"
    ),
    "tokenizer.batch_decode(x)": "host-read copy: tokenizer.batch_decode(x)",
    "self_like.tokenizer.decode(x[0])": "host-read copy: self_like.tokenizer.decode(x[0])",
}
ATTENTION = """
from transformers.cache_utils import Cache

class Attention(nn.Module):
    def forward(self, k: torch.Tensor, v: torch.Tensor, past: HINT = None):
        if past is not None:
            k, v = past.update(k, v, 0)
        return k
"""
LIGHTNING = """
import lightning as L

class Model(L.LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self.net(batch).mean()
        LOG
        return loss
"""


@pytest.mark.parametrize("case", SILENT)
def test_nothing_is_read_and_nothing_grows(case: str) -> None:
    assert in_step(SILENT[case]) == []


@pytest.mark.parametrize("code", SAID)
def test_what_methods_do(code: str) -> None:
    assert SAID[code] in in_step(code)


DECODING = """
from transformers import DynamicCache

def answer(model, ids: torch.Tensor):
    cache = DynamicCache()
    for i in range(9):
        places = torch.arange(cache.get_seq_length(), 9, device="xla")
        ids = model(ids.to("xla"), places, cache).argmax(-1)
"""


def test_a_position_in_a_cache_changes_while_it_decodes() -> None:
    changes = "changing-constant attribute: cache.get_seq_length()"
    assert changes in said(DECODING, "changing")


def test_a_position_in_a_cache_possibly_changes_elsewhere() -> None:
    code = CACHE + "c = DynamicCache(); torch.arange(c.get_seq_length(), device=device)"
    changes = "changing-constant attribute: c.get_seq_length()"
    assert changes not in in_step(code)
    assert changes in in_step(code, sure=False)


@pytest.mark.parametrize("hint", ["Cache", "Cache | None", "Optional[Union[Cache, list[torch.Tensor]]]"])
def test_a_cache_by_its_annotation(hint: str) -> None:
    assert said(ATTENTION.replace("HINT", hint), "changing") == ["changing-shape cache: past.update(k, v, 0)"]


def test_a_dictionary_has_an_update_too() -> None:
    assert said(ATTENTION.replace("HINT", "dict"), "changing") == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('self.log("loss", loss)', []),
        ('self.log("loss", loss, prog_bar=False)', []),
        ('self.log("n", batch_idx, prog_bar=True)', []),
        ('self.log("loss", loss, prog_bar=True, on_step=False, on_epoch=True)', []),
        ('self.log("loss", loss, prog_bar=True, on_step=True)', ["host-read format: loss"]),
        ('self.log("loss", loss, prog_bar=True)', ["host-read format: loss"]),
        ('self.log_dict({"loss": loss}, prog_bar=True)', ['host-read format: {"loss": loss}']),
    ],
)
def test_a_progress_bar_reads_what_it_shows(line: str, found: list[str]) -> None:
    assert said(LIGHTNING.replace("LOG", line), "host-read") == found


@pytest.mark.parametrize(
    ("method", "line", "reads"),
    [
        ("validation_step", 'self.log("loss", loss, prog_bar=True)', False),
        ("test_step", 'self.log_dict({"loss": loss}, prog_bar=True)', False),
        ("validation_step", 'self.log("loss", loss, prog_bar=True, on_step=True)', True),
        ("shared_step", 'self.log("loss", loss, prog_bar=True)', True),
    ],
)
def test_a_progress_bar_shows_an_evaluation_at_its_end(method: str, line: str, reads: bool) -> None:
    text = LIGHTNING.replace("LOG", line).replace("training_step", method)
    assert bool(said(text, "host-read")) == reads


GENERATE = """
class Poet(BASE):
    def generate(self, ids, **options):
        return super().generate(ids, **options)

def answer(model, ids):
    return model.generate(ids, GIVEN)
"""


@pytest.mark.parametrize(
    ("base", "given", "grows"),
    [
        ("nn.Module", "max_new_tokens=8", False),
        ("LlamaForCausalLM", "pages=8", False),
        ("LlamaForCausalLM", 'max_new_tokens=8, cache_implementation="static"', False),
        ("LlamaForCausalLM", "max_new_tokens=8, past_key_values=cache", False),
        ("LlamaForCausalLM", "max_new_tokens=1", False),
        ("LlamaForCausalLM", "max_new_tokens=8", True),
        ("transformers.PreTrainedModel, Poetry", "do_sample=True, max_new_tokens=8", True),
    ],
)
def test_the_cache_of_transformers_generate(base: str, given: str, grows: bool) -> None:
    found = said(GENERATE.replace("BASE", base).replace("GIVEN", given), "changing")
    assert [fact.partition(":")[0] for fact in found] == ["changing-shape generate"] * grows


PROVEN = """
import transformers
from peft import PeftModel

def answer(ids):
    model = MODEL
    return model.generate(ids, GIVEN)
"""


@pytest.mark.parametrize(
    ("model", "given", "grows"),
    [
        ("transformers.AutoModelForCausalLM.from_pretrained(a)", "", False),
        ('transformers.AutoModelForCausalLM.from_pretrained(a).to("cpu")', "max_new_tokens=8", False),
        ('transformers.AutoModelForCausalLM.from_pretrained(a, device_map="cpu")', "max_length=8", False),
        ('transformers.T5ForConditionalGeneration.from_pretrained(a).to("xla")', "max_new_tokens=1", False),
        ('transformers.T5ForConditionalGeneration.from_pretrained(a).to("xla")', "max_length=8", True),
        ('transformers.AutoModelForCausalLM.from_pretrained(a, device_map="auto")', "", True),
        ("transformers.AutoModelForCausalLM.from_pretrained(a, load_in_8bit=True)", "", True),
        ('PeftModel.from_pretrained(transformers.AutoModelForCausalLM(a).to("xla"), b).eval()', "", True),
        ('torch.nn.Linear(4, 4).to("xla")', "max_length=8", False),
    ],
)
def test_generate_of_a_class_of_transformers(model: str, given: str, grows: bool) -> None:
    found = said(PROVEN.replace("MODEL", model).replace("GIVEN", given), "changing")
    assert [fact.partition(":")[0] for fact in found] == ["changing-shape generate"] * grows


OWN_LOOP = """
from transformers import DynamicCache, StaticCache

def answer(model, given, ids):
    past = FIRST
    for i in range(9):
        out = model(ids.to("xla"), past_key_values=past)
        NEXT
        ids = out.logits[:, -1:].argmax(-1)
"""
CALL = 'model(ids.to("xla"), past_key_values=past)'


@pytest.mark.parametrize(
    ("first", "then", "grows"),
    [
        ("None", "past = out.past_key_values", True),
        ("DynamicCache()", "pass", True),
        ("DynamicCache()", "past = out.past_key_values", True),
        ("StaticCache(4)", "pass", False),
        ("StaticCache(4)", "past = out.past_key_values", False),
        ("None", "pass", False),
        ("given", "pass", False),
    ],
)
def test_a_cache_that_a_decoding_loop_gives_back(first: str, then: str, grows: bool) -> None:
    found = said(OWN_LOOP.replace("FIRST", first).replace("NEXT", then), "changing-shape")
    assert [fact for fact in found if " generate:" in fact] == [f"changing-shape generate: {CALL}"] * grows


def test_a_prefix_in_training_is_no_growing_cache() -> None:
    code = """
    def train(model, loader, optimizer):
        for ids in loader:
            prefix = model.prefix(ids.to("xla"))
            model(ids.to("xla"), past_key_values=prefix).loss.backward()
            optimizer.step()
    """
    assert said(code, "changing-shape") == []


FOREIGN = """
import lightning as L

def generate(net: nn.Module, x: torch.Tensor):
    return net(x)[x > 0]

def main(fabric: L.Fabric, tokenizer):
    net = fabric.setup_module(nn.Linear(2, 2))
    return generate(net, fabric.to_device(tokenizer))
"""


def test_what_another_library_returns_is_what_an_annotation_promises() -> None:
    assert said(FOREIGN, "dynamic-shape") == ["dynamic-shape mask-read: net(x)[x > 0]"]


DECODED = """
from transformers import AutoTokenizer
def answer(model, loader):
    tokenizer = AutoTokenizer.from_pretrained("a")
    model = model.to("xla")
    for ids in loader:
        out = model.CALL(ids.to("xla"), max_new_tokens=8)
        LINE
"""


@pytest.mark.parametrize(
    ("call", "line", "boundary"),
    [
        ("generate", "text = tokenizer.batch_decode(out)", "before"),
        ("forward", "text = tokenizer.batch_decode(out)[0]", "before"),
        ("generate", "text = tokenizer.batch_decode(out)[0]", "after"),
        (
            "generate",
            "text = tokenizer.batch_decode(out[:, 3:], skip_special_tokens=True)[0].strip()",
            "after",
        ),
    ],
)
def test_generate_leaves_nothing_to_compute_for_one_text(call: str, line: str, boundary: str) -> None:
    text = DECODED.replace("CALL", call).replace("LINE", line)
    found = [fact for fact in facts(text) if isinstance(fact, HostRead)]
    assert [fact.boundary for fact in found] == [boundary]


METRIC = """
from torchmetrics import Metric

class Scatter(Metric):
METHODS

def evaluate(loader):
    model = nn.Linear(8, 8).to("xla")
    metric = Scatter()
    for batch in loader:
        metric(model(batch.to("xla")))
        torch_xla.sync()

evaluate([torch.ones(2, 8)] * 9)
"""
UPDATE = "    def update(self, z):\n        self.z = z\n"


@pytest.mark.parametrize(
    ("methods", "reads"),
    [
        ("    def update(self, z):\n        z.sum().item()\n", ["z.sum().item()"]),
        (UPDATE + "    def compute(self):\n        return self.z.sum().item()\n", ["self.z.sum().item()"]),
        (UPDATE + "    def last(self):\n        return self.z.sum().item()\n", []),
        ("    def forward(self, z):\n        pass\n    def compute(self):\n        self.z.item()\n", []),
    ],
)
def test_a_metric_that_is_called_updates_and_computes(methods: str, reads: list[str]) -> None:
    text = METRIC.replace("METHODS", methods)
    found = [fact for fact in facts(text) if isinstance(fact, HostRead) and fact.frequency == "step"]
    assert [(IMPORTS + text)[slice(*fact.span)] for fact in found] == reads
