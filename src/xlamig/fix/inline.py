"""The helper's functions as definitions in the file that uses them, where no import of a helper is sure
to work. They prefer CUDA, and know a TPU by its device files."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig import ir
from xlamig.facts import Span
from xlamig.findings import Edit
from xlamig.fix.context import FixContext
from xlamig.fix.helper_text import body_of
from xlamig.fix.imports import Imported, header_end, line_end
from xlamig.fix.scopes import bindings, reads
from xlamig.knowledge import helpers

_PARAMETERS = {
    helpers.DEVICE: "cuda_index=None",
    helpers.ACCELERATOR: "check_available=False",
    helpers.AVAILABLE: "",
    helpers.COUNT: "",
    helpers.BOUNDARY: "",
    helpers.EVAL: "module",
    helpers.HOST: "function",
    helpers.PADDED: "rnn, x, lengths, batch_first=False, state=None, total_length=None",
    helpers.SEED: "seed",
    helpers.UPDATES: "optimizer",
    helpers.WAIT: "device=None",
}
_BODIES = {
    helpers.DEVICE: """\
import importlib.util
import os

import torch

if torch.cuda.is_available():
    name = f"cuda:{cuda_index}" if isinstance(cuda_index, int) else cuda_index
    return torch.device(name or "cuda")
tpu = os.path.exists("/dev/accel0") or os.path.exists("/dev/vfio/0")
if (tpu or os.environ.get("PJRT_DEVICE")) and importlib.util.find_spec("torch_xla"):
    import torch_xla

    return torch_xla.device()
return torch.device("cpu")
""",
    helpers.ACCELERATOR: """\
import torch

device = default_device()
return device if device.type == "xla" else torch.accelerator.current_accelerator(check_available)
""",
    helpers.AVAILABLE: """\
import torch

return default_device().type == "xla" or torch.accelerator.is_available()
""",
    helpers.COUNT: """\
import torch

return 1 if default_device().type == "xla" else torch.cuda.device_count()
""",
    helpers.BOUNDARY: """\
import sys

if "torch_xla" in sys.modules:
    import torch_xla

    torch_xla.sync()
""",
    helpers.EVAL: """\
import torch

def normalized(layer, args, out):
    x, mean, scale = args[0], layer.running_mean, layer.weight
    if layer.training or mean is None or x.device.type != "xla":
        return out
    shape = (1, -1) + (1,) * (x.dim() - 2)
    factor = torch.rsqrt(layer.running_var + layer.eps)
    x = (x - mean.view(shape)) * (factor if scale is None else factor * scale).view(shape)
    return (x if scale is None else x + layer.bias.view(shape)).to(out.dtype)

for layer in module.modules():
    if type(layer).forward is torch.nn.modules.batchnorm._BatchNorm.forward:
        if all(hook.__name__ != "normalized" for hook in layer._forward_hooks.values()):
            layer.register_forward_hook(normalized)
return module.eval()
""",
    helpers.HOST: """\
import functools
import sys

import torch

def each(value, change):
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) is dict:
        return {key: each(item, change) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(each(item, change) for item in value))
    if type(value) in (list, tuple):
        return type(value)(each(item, change) for item in value)
    return value

@functools.wraps(function)
def run(*args, **kwargs):
    devices = []

    def to_host(tensor):
        if tensor.device.type != "xla":
            return tensor
        if not devices:
            sys.modules["torch_xla"].sync()
        devices.append(tensor.device)
        return tensor.cpu()

    if "torch_xla" not in sys.modules:
        return function(*args, **kwargs)
    args, kwargs = each((args, kwargs), to_host)
    result = function(*args, **kwargs)
    return each(result, lambda tensor: tensor.to(devices[0])) if devices else result

return run
""",
    helpers.SEED: """\
if default_device().type == "xla":
    import torch_xla

    torch_xla.manual_seed(seed)
""",
    helpers.WAIT: """\
import sys

import torch

if torch.cuda.is_available():
    torch.cuda.synchronize(device)
elif "torch_xla" in sys.modules:
    import torch_xla

    torch_xla.sync(wait=True)
""",
}


def inline_function(context: FixContext, function: str, use: Span) -> Imported | None:
    """`function` and what it calls, defined in the file; None where a name is taken."""
    wanted = [helpers.DEVICE] if f"{helpers.DEVICE}(" in _body(function) else []
    missing: list[str] = []
    for name in (*wanted, function):
        state = _state(context, name, use)
        if state is None:
            return None
        missing += [name] if not state else []
    edit = _insertion(context, missing, use) if missing else None
    if missing and edit is None:
        return None
    return Imported(function, (edit,) if edit else ())


def joined_definitions(contents: Sequence[str], newline: str) -> str:
    """Return several insertions of functions at one place as one, each function once."""
    first, gap = contents[0], newline * 3
    definitions = dict.fromkeys(one for text in contents for one in text.strip("\r\n").split(gap))
    return first.replace(first.strip("\r\n"), gap.join(definitions))


def is_inline(node: ir.Node) -> bool:
    """xlamig wrote this definition."""
    return isinstance(node, ir.FunctionDef) and helpers.is_inline(node.name, ir.docstring(node))


def _state(context: FixContext, name: str, use: Span) -> bool | None:
    """True: our definition is there before the use; False: the name is free; None: it is taken."""
    bound = bindings(context.module, name)
    if not bound:
        return None if reads(context.module, name) else False
    ours = len(bound) == 1 and is_inline(bound[0]) and bound[0] in context.module.body
    return True if ours and bound[0].end <= use[0] else None


def _insertion(context: FixContext, functions: list[str], use: Span) -> Edit | None:
    """The definitions below the imports, with two blank lines on both sides."""
    text, newline = context.source.text, context.module.newline
    definitions = f"{newline * 3}".join(_definition(context, name) for name in functions)
    after = header_end(context, use)
    if after is None:
        at = context.module.insert_at
        if at > 0 and text[at - 1] not in "\r\n":
            return None
        return context.edit(at, at, f"{definitions}{newline * 3}")
    at = line_end(text, after)
    rest = text[at:]
    blank = len(rest) - len(rest.lstrip("\r\n")) if rest.strip() else 3 * len(newline)
    padding = newline * max(0, 3 - blank // len(newline))
    return context.edit(at, at, f"{newline * 3}{definitions}{padding}")


def _definition(context: FixContext, name: str) -> str:
    lines = [f'    """{helpers.DOCSTRINGS[name]}"""', *_indent(_body(name))]
    text = "\n".join([f"def {name}({_PARAMETERS[name]}):", *lines])
    return text.replace("    ", context.module.indent).replace("\n", context.module.newline)


def _body(function: str) -> str:
    """Return the statements of a function; one that needs nothing but torch is the helper's own."""
    return _BODIES[function] if function in _BODIES else f"import torch\n\n{body_of(function)}"


def _indent(body: str) -> list[str]:
    return [f"    {line}" if line else "" for line in body.splitlines()]
