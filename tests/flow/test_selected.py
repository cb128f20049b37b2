"""Advice about masks and slices follows from what takes the elements, and from which end varies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xlamig import engine
from xlamig.findings import Finding

HEAD = """import torch
def train(model, loader, optimizer, table, criterion, positions, kept):
    for x, lengths in loader:
        x, lengths = x.to("xla"), lengths.to("xla")
        z = model(x)
        m = z > 0
        n = lengths.min()
"""
TAIL = """        z.sum().backward()
        optimizer.step()
        torch_xla.sync()
"""


def found(text: str, **settings: Any) -> list[Finding]:
    options = engine.Options(settings, isolated=True, stdin=("train.py", text.encode()))
    return list(engine.check([Path("train.py")], options).findings)


CASES = {
    "y = z[m]": "Compute on all elements and mask the result",
    "y = model(z[m])": "Compute on all elements and mask the result",
    "z[m] = model(z[m])": "Compute the new values for all elements",
    "y = z[m].mean()": "Compute on all elements and mask the result",
    "y = z[m].cpu()": "Copy tensor and mask to the host first",
    "y = z[m].numel() == 3": "Take the number from the mask itself",
    "y = z[m].shape[0]": "Take the number from the mask itself",
    "y = len(z[m])": "Take the number from the mask itself",
    "y = z[m].sum().numel()": "Compute on all elements and mask the result",
    "y = criterion(z[m], x)": "Give the loss all elements",
    "y = z[m]; w = torch.nn.functional.cross_entropy(y, x)": "Give the loss all elements",
    "y = z[m]; kept.append(y); w = criterion(y)": "Compute on all elements and mask the result",
    "kept.append(z[m])": "If the host takes these elements",
    "kept.append({'rows': z[m], 'of': m})": "If the host takes these elements",
    "kept += [z[m]]": "If the host takes these elements",
    "table['rows'] = z[m]": "If the host takes these elements",
    "table[n] = {'rows': z[m]}": "If the host takes these elements",
    "y = z[m]; y = y[:10]; kept.append(y)": "If the host takes these elements",
    "y = z[m]; w = len(y) + y.numel(); kept.append(y)": "If the host takes these elements",
    "kept.append([row[m] for row in z])": "If the host takes these elements",
    "y = torch.masked_select(z, m); kept.append(y)": "If the host takes these elements",
    "kept.append(z[m].mean())": "Compute on all elements and mask the result",
    "kept.append(model(z[m]))": "Compute on all elements and mask the result",
    "y = z[m]; w = len(y)": "Take the number from the mask itself",
    "y = z[m]; y = y + 1; kept.append(y)": "Compute on all elements and mask the result",
    "y = [row[m] for row in z]; kept.append(torch.cat(y))": "Compute on all elements and mask the result",
    "table[0] = z[m]": "Compute on all elements and mask the result",
    "table.index_copy_(0, positions, z[m])": "Write all rows",
    "table.index_copy_(0, positions, model(z[m]))": "Compute on all elements and mask the result",
    "y = z[z[:, 4] > table.conf_thres]": "Keep a fixed number of candidates by `topk`",
    "y = z[z[:, 4] > table.width]": "Compute on all elements and mask the result",
    "y = z[lengths > table.conf_thres]": "Compute on all elements and mask the result",
    "y = z[m]; w = non_max_suppression(y[None], 0.4)": "Keep a fixed number of candidates by `topk`",
    "y = z[m]; w = table.nms(y[:, :4], y[:, 4])": "Keep a fixed number of candidates by `topk`",
    "y = z[m]; w = table.nms(x)": "Compute on all elements and mask the result",
    "y = lengths[m[0]]; w = x[y]": "build them on the CPU, in the collate function",
    "y = lengths[m[0]]; w, x = x[y], z[:, y]": "build them on the CPU, in the collate function",
    "y = lengths[m[0]]; w = y[0]": "Compute on all elements and mask the result",
    "y = z[0, m[0]]": "`y = torch.where(mask, new, y)`",
    "y = z[:n]": "Keep the whole tensor, and mask the surplus",
    "y = z[1:n]": "Keep the whole tensor, and mask the surplus",
    "y = z[n:]": "mask what comes before: `torch.arange(length) >= n`",
    "y = z[n:n + 4]": "Read a window of fixed length",
    "z[:, n:] = 0": "Write by a mask of positions",
    "z[:, n:] += 1": "Write by a mask of positions",
    "y[0] = z[n:]": "mask what comes before",
    "k = lengths.max(); y = z[:, :k]": "`lengths.max()` is a dimension already",
    "y = z[lengths.max() + 1:]": "`lengths.max()` is a dimension already",
    "y = z[n:lengths.max()]": "Read a window of fixed length",
    "z[:, lengths.max():] = 0": "Write by a mask of positions",
    "s = z.argmax(1); y = [row[:k] for row, k in zip(z, s)]": "`torch.arange(n) < s[:, None]`",
    "cu_lens = z.argmax(1); y = [z[cu_lens[i]:cu_lens[i + 1]] for i in range(3)]": "number of its sequence",
    "y = z[torch.arange(8, device='xla') == lengths[:, None]]": "`z.gather(1, p[..., None]",
    "y = z[torch.arange(8, device='xla') == lengths]": "Compute on all elements and mask the result",
    "y = z[torch.arange(8, device='xla') <= lengths[:, None]]": "Compute on all elements and mask the result",
}


@pytest.mark.parametrize("line", CASES)
def test_help_fits_what_takes_the_elements_and_which_end_varies(line: str) -> None:
    text = HEAD + "".join(f"        {part}\n" for part in line.split("; ")) + TAIL
    helps = {f.help or "" for f in found(text, select=["XLA202", "XLA109"])}
    assert len(helps) == 1
    assert CASES[line] in helps.pop()


def test_a_mask_beside_other_indices_is_shown_with_them() -> None:
    (finding,) = found(HEAD + "        y = z[0, m[0]]\n" + TAIL, select=["XLA202"])
    assert finding.message.startswith("`z[0, m[0]]` has a different length")


def test_elements_that_a_function_returns_are_its_result() -> None:
    text = HEAD.replace("        m =", "        y = select(z)\n        m =")
    text = text.replace("\n", "\ndef select(z):\n    {}\n", 1)
    (finding,) = found(text.format("m = z > 0; return {'rows': z[m]}") + TAIL, select=["XLA202"])
    assert finding.help is not None and finding.help.startswith("If the host takes these elements")
    (finding,) = found(text.format("m = z > 0; return z[m].mean()") + TAIL, select=["XLA202"])
    assert finding.help is not None and finding.help.startswith("Compute on all elements")


MASKS = {
    "torch.zeros(4, 8, 3, device='xla')": "with `m = m[..., None]`; ",
    "torch.zeros(4, 8, 3, 2, device='xla')": "with `m = m[..., None, None]`; ",
    "torch.zeros(4, 8, device='xla')": "with `m = m`; ",
    "model(x)": "with `m = m`, or `m = m[..., None]` if it has fewer dimensions than `z`",
}


@pytest.mark.parametrize("made", MASKS)
def test_help_gives_a_mask_the_dimensions_that_it_lacks(made: str) -> None:
    head = HEAD.replace("z = model(x)", f"z = {made}")
    head = head.replace("m = z > 0", "m = torch.rand(4, 8, device='xla') > 0")
    (finding,) = found(head + "        y = z[m].mean()\n" + TAIL, select=["XLA202"])
    assert finding.help is not None and MASKS[made] in finding.help


WRITTEN = {
    "torch.zeros(4, 8, 3, device='xla')": "Use `z = torch.where(m[..., None], value, z)`",
    "torch.zeros(4, 8, device='xla')": "Use `z = torch.where(m, value, z)`",
    "model(x)": "`m` is `m`, or `m[..., None]` if `z` has a dimension more, behind the mask's",
}


@pytest.mark.parametrize("made", WRITTEN)
def test_help_for_a_write_gives_a_mask_the_dimensions_that_it_lacks(made: str) -> None:
    head = HEAD.replace("z = model(x)", f"z = {made}")
    head = head.replace("m = z > 0", "m = torch.rand(4, 8, device='xla') > 0")
    (finding,) = found(head + "        z[m] = model(x)\n" + TAIL, select=["XLA203"])
    assert finding.help is not None and WRITTEN[made] in finding.help


SIZES = {
    "y = torch.arange(lengths.min().item(), device='xla')": "device=device) < lengths.min()`",
    "y = torch.arange(int(lengths.min().item()) + 1, device='xla')": "device=device) < lengths.min() + 1`",
    "y = torch.arange(2 * int(lengths.min() + 1), device='xla')": "device=device) < 2 * (lengths.min() + 1)`",
    "k = lengths.min().item(); y = torch.arange(k, device='xla')": "device=device) < k`",
    "y = z[:lengths.min().item()]": "device=device) < lengths.min()`",
    "y = z[lengths.min().item():]": "device=device) >= lengths.min()`",
    "y = z.new_zeros(lengths.max().item())": "`lengths.max()` is a dimension already",
    "y = z.split(lengths.tolist())": "Compute all parts at once",
}


@pytest.mark.parametrize("line", SIZES)
def test_help_gives_the_size_as_a_tensor(line: str) -> None:
    text = HEAD + "".join(f"        {part}\n" for part in line.split("; ")) + TAIL
    helps = [f.help or "" for f in found(text, select=["XLA205"])]
    assert len(helps) == 1 and SIZES[line] in helps[0]


@pytest.mark.parametrize(
    ("body", "help_"),
    [
        ("i = m.nonzero().cpu(); y = table[i]", "Copy the mask to the host first"),
        ("i = m.nonzero().cpu().tolist(); y = i[1:]", "Copy the mask to the host first"),
        ("i = m.nonzero().cpu(); n = len(i); kept.append(n)", "Copy the mask to the host first"),
        ("i = m.nonzero().tolist(); y = z[i[0]:i[1]]", "If the indices cut tensors of the device"),
        ("i = m.nonzero().cpu(); i = [0] + i.tolist(); n = i[0]; y = z[n:]", "If the indices cut tensors"),
        ("i = m.nonzero().tolist(); kept += [z[a:b] for a, b in i]", "Copy the mask to the host first"),
    ],
)
def test_indices_that_bound_slices_recompile_wherever_they_are_found(body: str, help_: str) -> None:
    text = HEAD + "".join(f"        {part}\n" for part in body.split("; ")) + TAIL
    (finding,) = found(text, select=["XLA201"])
    assert (finding.help or "").startswith(help_)
