"""Loops without a step boundary whose iterations a wait ends, or a read on each path that does work."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.flow.interp.said import IMPORTS, facts

from xlamig import engine


def boundaries(text: str) -> list[str]:
    return [f"{f.loop} {f.boundary}" for f in facts(text) if f.kind == "step-boundary"]  # type: ignore[attr-defined]


MEASURED = """
model = nn.Linear(8, 8).cuda()
def wait():
    torch.cuda.synchronize()
with torch.no_grad():
    for x in loader:
        results.append(model(x.cuda()))
        WAIT
"""


@pytest.mark.parametrize(
    ("wait", "boundary"),
    [
        ("torch.cuda.synchronize()", "sync"),
        ("wait()", "sync"),
        ("if len(x) > 3: torch.cuda.synchronize()", "none"),
        ("if torch.cuda.is_available(): torch.cuda.synchronize()", "none"),  # a TPU does not run it
        ("torch_xla.core.xla_model.wait_device_ops()", "none"),  # runs nothing of what is only recorded
        ("torch.cuda.empty_cache()", "none"),
    ],
)
def test_a_wait_for_cuda_in_each_iteration_becomes_its_boundary(wait: str, boundary: str) -> None:
    assert boundaries(MEASURED.replace("WAIT", wait)) == [f"evaluation {boundary}"]


def test_a_wait_for_cuda_is_no_boundary_of_training() -> None:
    text = """
    model = nn.Linear(8, 8).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        loss = model(x.cuda()).sum()
        torch.cuda.synchronize()
        loss.backward()
        optimizer.step()
    """
    assert boundaries(text) == ["training none"]


PROCESS = """
import cv2
import numpy as np
def process(model, kind, image):
    if "session" in kind:
        SESSION
    else:
        sample = torch.from_numpy(image).to("cuda")
        prediction = model(sample).cpu().numpy()
    return prediction
def run(model, kind, names):
    for name in names:
        image = cv2.imread(name)
        with torch.no_grad():
            prediction = process(model, kind, image)
        cv2.imwrite(name, prediction)
run(load_model(), input(), input().split())
"""


@pytest.mark.parametrize(
    ("session", "boundary"),
    [
        ("prediction = model([np.reshape(image, (1, 3))])[0]", "read"),
        ("prediction = cv2.resize(model([image.astype('float32')])[model.output(0)], (3, 3))", "read"),
        ("prediction = model([torch.from_numpy(image).cuda()])", "some"),
        ("prediction = model(torch.from_numpy(image).cuda())", "some"),
    ],
)
def test_a_branch_without_device_work_leaves_nothing_to_read(session: str, boundary: str) -> None:
    text = PROCESS.replace("SESSION", session)
    assert boundaries(text) == [f"evaluation {boundary}"]


@pytest.mark.parametrize(
    ("body", "boundary"),
    [
        ("y = model(x.cuda())\n        if flag: print(y.sum().item())", "some"),
        ("y = model(x.cuda())\n        if flag: print(len(x))\n        else: print(y.sum().item())", "some"),
        ("if flag: print(len(x))\n        else: print(model(x.cuda()).sum().item())", ""),
    ],
)
def test_work_before_a_branch_needs_a_read_in_each(body: str, boundary: str) -> None:
    text = """
    model = nn.Linear(8, 8).cuda()
    def run(flag):
        for x in torch.utils.data.DataLoader(data):
            BODY
    run(input() == "1")
    """.replace("BODY", body.replace("\n        ", "\n            "))
    assert boundaries(text) == ([f"evaluation {boundary}"] if boundary else [])


@pytest.mark.parametrize(("end", "codes"), [("torch_xla.sync()", []), ("pass", ["XLA401"])])
def test_a_short_loop_of_updates_may_end_the_step(end: str, codes: list[str]) -> None:
    text = f"""import torch
import torch_xla
from torch import nn

device = torch_xla.device()
net = nn.Linear(4, 2).to(device)
optimizer = torch.optim.Adam(net.parameters())


def run(env, memory, updates=1):
    done = False
    while not done:
        done = env.step()
        if len(memory) > 8:
            for _ in range(updates):
                loss = net(memory.sample()).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                {end}
"""
    options = engine.Options({"select": ["XLA401"]}, isolated=True, stdin=("train.py", text.encode()))
    assert [one.code for one in engine.check([Path("train.py")], options).findings] == codes


GRADIENTS = """
model = nn.Linear(8, 8).cuda()
for epoch in range(5):
    BEFORE
    for x in batches:
        EACH
        model(x.cuda()).sum().backward()
    AFTER
"""


@pytest.mark.parametrize(
    ("before", "each", "after", "expected"),
    [
        ("model.train()", "model.zero_grad()", "look(model)", ["for x in batches"]),
        ("model.zero_grad()", "pass", "look(model)", ["for epoch in range(5)"]),
        ("model.train()", "model.zero_grad()", "optimizer.step()", ["optimizer.step()"]),
    ],
)
def test_the_step_of_gradients_without_updates_is_the_iteration_that_drops_them(
    before: str, each: str, after: str, expected: list[str]
) -> None:
    text = GRADIENTS.replace("BEFORE", before).replace("EACH", each).replace("AFTER", after)
    found = [f for f in facts(text) if f.kind == "step-boundary" and f.loop != "inner"]  # type: ignore[attr-defined]
    assert [(IMPORTS + text)[slice(*fact.span)] for fact in found] == expected
