"""Calls of other modules' functions are run with the caller's values."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from xlamig import engine

from .projects import facts_by_module, said_of

TRAINER = dedent("""
    class Trainer:
        def __init__(self, model, optimizer):
            self.model = model
            self.optimizer = optimizer

        def step(self, batch):
            loss = self.model(batch).mean()
            loss.backward()
            self.optimizer.step()
            return loss

        def report(self):
            return self.last.item()
""")
TRAIN = dedent("""
    import torch
    from lib import Trainer

    model = torch.nn.Linear(2, 2).to("cuda")
    trainer = Trainer(model, torch.optim.SGD(model.parameters()))
    for batch in torch.utils.data.DataLoader([]):
        loss = trainer.step(batch.to("cuda"))
        if loss > 1:
            print("big")
""")
BASE = dedent("""
    import torch
    from torch import nn

    class Base(nn.Module):
        def forward(self, x):
            return self.compute(x)
""")


def test_what_a_method_of_another_module_returns_comes_back() -> None:
    assert "host-read truth: loss > 1" in said_of("train", train=TRAIN, lib=TRAINER)


def test_what_a_function_returns_depends_on_its_arguments() -> None:
    host = TRAIN.replace('.to("cuda")', "")
    assert "host-read truth: loss > 1" not in said_of("train", train=host, lib=TRAINER)


def test_a_method_that_a_base_class_of_another_module_calls_gets_its_arguments() -> None:
    child = """
        from base import Base

        class Child(Base):
            def compute(self, x):
                return x.sum().item()

        model = Child().to("cuda")
        for step in range(10):
            model(step_input.to("cuda"))
        """
    assert "host-read item: x.sum().item()" in said_of("child", child=child, base=BASE)


def test_a_base_class_of_another_module_is_silent_for_host_numbers() -> None:
    child = """
        from base import Base

        class Child(Base):
            def compute(self, x):
                return int(len(self.names))
        """
    assert said_of("child", child=child, base=BASE) == []


def test_modules_that_import_each_other_end() -> None:
    one = "import torch\nimport two\ndef f(x):\n    return two.g(x)\nf(torch.ones(1).to('cuda'))\n"
    two = "import torch\nimport one\ndef g(x):\n    return one.f(x)\n"
    assert said_of("one", one=one, two=two) == []


def test_mutual_recursion_over_modules_still_reads() -> None:
    one = "import torch\nimport two\ndef f(x):\n    return two.g(x)\nf(torch.ones(1).to('cuda'))\n"
    two = "import torch\nimport one\ndef g(x):\n    x.item()\n    return one.f(x)\n"
    assert "host-read item: x.item()" in said_of("two", one=one, two=two)


def test_what_only_a_script_runs_is_not_run_by_an_import() -> None:
    lib = "import torch\ndef f(x):\n    return x.item()\n"
    lib += "if __name__ == '__main__':\n    f(torch.ones(1).to('cuda'))\n"
    train = "import torch\nfrom lib import f\nf(torch.ones(1))\n"
    assert said_of("train", train=train, lib=lib) == []


LIBRARY = """
    import torch

    def make(size, where):
        table = torch.zeros(size, device=where)
        if table.sum() > 0:
            print("filled")
        return table
    """


@pytest.mark.parametrize(("argument", "is_followed"), [("4, None", False), ("4, 'cuda'", True)])
def test_follows_calls_of_unused_code_only_with_arguments_that_tell(argument: str, is_followed: bool) -> None:
    unused = f"""
        from library import make

        def build():
            return make({argument})
        """
    texts = {"unused": dedent(unused), "library": dedent(LIBRARY)}
    reasons = [why.message for fact in facts_by_module(texts)["library"] for why in fact.reasons]
    assert ("`make` is called in unused.py, line 5" in reasons) is is_followed


def test_a_clock_that_another_file_read_is_shown_there(tmp_path: Path) -> None:
    (tmp_path / "show.py").write_text("import time\ndef show(start):\n    print(time.time() - start)\n")
    train = """
        import time, torch
        from show import show

        model = torch.nn.Linear(2, 2).to("cuda")
        for x in torch.utils.data.DataLoader([]):
            start = time.time()
            y = model(x.to("cuda"))
            show(start)
        """
    (tmp_path / "train.py").write_text(dedent(train))
    options = engine.Options(overrides={"select": ["XLA404"]}, isolated=True)
    (timing,) = engine.check([tmp_path], options).findings
    (read,) = (reason for reason in timing.reasons if "first reading" in reason.message)
    assert Path(read.filename).name == "train.py"


def test_an_import_hides_a_function_of_the_module() -> None:
    text = """
        import torch

        def profile(x):
            return x.item()

        def info(x):
            from thop import profile
            return profile(x)

        info(torch.ones(1).to("cuda"))
        """
    assert said_of("text", text=text) == []


CUT = """
    import torch
    from torch.utils.data import DataLoader
    from data import Dataset

    model = torch.nn.Linear(2, 2).to("cuda")
    optimizer = torch.optim.SGD(model.parameters())
    dataset = Dataset()
    for batch in DataLoader(dataset, 4, drop_last=True, collate_fn=dataset.collate):
        model(batch.to("cuda")).sum().backward()
        optimizer.step()
        torch_xla.sync()
"""
SETS = """
    import torch
    IMPORT

    class Dataset(BASE):
        def collate(self, samples):
            return torch.zeros(4, max(len(sample) for sample in samples))
"""


@pytest.mark.parametrize(
    ("line", "base", "told"),
    [
        ("from torch.utils.data import Dataset as Data", "Data", 1),
        ("from torch.utils.data import Dataset", "Dataset", 1),
        (
            "try:\n        from fast import Dataset\n    except ImportError:\n        Dataset = object",
            "Dataset",
            1,
        ),
    ],
)
def test_a_class_replaces_the_imported_one_it_inherits(line: str, base: str, told: int) -> None:
    sets = SETS.replace("IMPORT", line).replace("BASE", base)
    found = said_of("data", train=dedent(CUT), data=dedent(sets))
    assert len([one for one in found if one.startswith("changing-shape")]) == told
