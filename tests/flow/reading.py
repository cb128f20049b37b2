"""Facts of a few lines of source, under an interest that no rule page has a say in."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent
from typing import TypeVar

from xlamig.facts import ApiUse, DeviceChoice, Fact, Interest, Value
from xlamig.flow import Facts, ProjectIndex, facts_of, summary_of
from xlamig.syntax import module_from_text

F = TypeVar("F", bound=Fact)

INTEREST = Interest(
    kinds=frozenset({"api-use", "device-choice", "package", "launch", "environment"}),
    names=frozenset(
        {
            "torch.autocast",
            "torch.backends.cudnn.benchmark",
            "torch.compile",
            "torch.cuda.empty_cache",
            "torch.cuda.set_device",
            "torch.cuda.synchronize",
            "torch.distributed.init_process_group",
            "torch.load",
            "torch.nn.ELU",
            "torch.optim.Adam",
            "Tensor.cuda",
            "Module.cuda",
            "unknown.cuda",
            "Module.compile",
            "unknown.compile",
        }
    ),
    prefixes=("torch.cuda.memory.",),
    methods=frozenset({"cuda", "compile"}),
    keywords=frozenset({"attn_implementation"}),
    packages=frozenset({"flash_attn", "apex.amp"}),
    variables=frozenset({"XLA_USE_BF16"}),
    variable_prefixes=("NCCL_",),
    signatures={
        "torch.autocast": ("device_type", "dtype", "enabled"),
        "torch.distributed.init_process_group": ("backend", "init_method"),
        "torch.load": ("f", "map_location"),
    },
    aliases={
        "torch.amp.autocast": "torch.autocast",
        "torch.cuda.memory.empty_cache": "torch.cuda.empty_cache",
    },
)


def identity(filename: str) -> tuple[str, bool]:
    """A file's module as the project index names it, and whether it is a package's `__init__`."""
    module = filename.removesuffix(".py").replace("/", ".")
    package = module.rpartition(".")[2] == "__init__"
    return (module.rpartition(".")[0] if package else module), package


def read(
    source: str,
    filename: str = "train.py",
    project: Mapping[str, str] | None = None,
    interest: Interest = INTEREST,
    context: frozenset[str] = frozenset(),
) -> Facts:
    """Facts of `source`, which is the file `filename` of a project with these other files."""
    text = dedent(source)
    texts = {filename: text, **{name: dedent(other) for name, other in (project or {}).items()}}
    interfaces = {}
    for name, content in texts.items():
        module, package = identity(name)
        interfaces[module] = summary_of(module_from_text(content), content, module, package).interface
    module, package = identity(filename)
    needed = ProjectIndex(interfaces).needed_by(interfaces[module])
    return facts_of(module_from_text(text), text, module, package, interest, needed, context)


def facts_in(source: str, kind: type[F], **given: object) -> list[F]:
    """The facts of one kind, in source order."""
    return [fact for fact in read(source, **given).facts if isinstance(fact, kind)]  # type: ignore[arg-type]


def uses(source: str, **given: object) -> list[str]:
    """The canonical names of the API uses."""
    return [fact.name for fact in facts_in(source, ApiUse, **given)]


def devices(source: str, **given: object) -> list[str]:
    """The device literals, as "position device"."""
    choices = facts_in(source, DeviceChoice, **given)
    return [f"{fact.position} {fact.device}" for fact in choices if fact.via == "literal"]


def guards(source: str, **given: object) -> list[str]:
    """The kinds of guards around each API use, as "cuda package"."""
    return [" ".join(g.kind for g in fact.guards) for fact in facts_in(source, ApiUse, **given)]


def argument(source: str, name: str = "map_location", **given: object) -> Value | None:
    """Return the value of an argument of the last API use that has it."""
    found = [fact.argument(name) for fact in facts_in(source, ApiUse, **given)]
    return next((a.value for a in reversed(found) if a is not None), None)


def proof(source: str, **given: object) -> str:
    """The device variable proven to be in scope at the last call of `.cuda()`, "" for none."""
    calls = [fact for fact in facts_in(source, ApiUse, **given) if fact.name.endswith(".cuda")]
    return calls[-1].proofs.get("device-in-scope", "")
