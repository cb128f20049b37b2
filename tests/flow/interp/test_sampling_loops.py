"""Sampling loops in the methods of a module, which call a part of it again and again."""

from __future__ import annotations

import pytest

from xlamig.facts import StepBoundary

from .said import facts

SAMPLER = """
class Diffusion(nn.Module):
    def __init__(self, denoise_fn, layers):
        super().__init__()
        self.denoise_fn = denoise_fn
        self.norm = nn.LayerNorm(8)
        self.layers = nn.ModuleList(layers)

    def mean(self, x, t):
        return self.denoise_fn(x, t)

    DECORATOR
    def sample(self, shape, steps, device):
        x = torch.randn(shape, device=device)
        LOOP
        return x

    def forward(self, x):
        return self.denoise_fn(x, 0)
"""


def loops(loop: str, decorator: str = "@torch.no_grad()") -> list[tuple[str, str]]:
    text = SAMPLER.replace("DECORATOR", decorator).replace("LOOP", loop.replace("\n", "\n        "))
    return [(fact.loop, fact.boundary) for fact in facts(text) if isinstance(fact, StepBoundary)]


@pytest.mark.parametrize(
    ("loop", "decorator"),
    [
        ("for t in range(steps):\n    x = self.denoise_fn(x, t)", "@torch.no_grad()"),
        ("for t in reversed(range(steps)):\n    x = self.mean(x, t)", "@torch.inference_mode()"),
        ("with torch.no_grad():\n    for t in range(steps):\n        x = x - self.mean(x, t)", ""),
    ],
)
def test_takes_a_part_that_gets_its_result_back_for_a_sampling_loop(loop: str, decorator: str) -> None:
    assert loops(loop, decorator) == [("decoding", "none")]


@pytest.mark.parametrize(
    ("loop", "decorator"),
    [
        ("for t in range(steps):\n    x = self.denoise_fn(x, t)", ""),  # a part of a forward pass, maybe
        ("for layer in self.layers:\n    x = layer(x)", "@torch.no_grad()"),
        ("for i in range(len(self.layers)):\n    x = self.norm(self.layers[i](x))", "@torch.no_grad()"),
        ("for t in range(steps):\n    y = self.denoise_fn(x, t)", "@torch.no_grad()"),
        ("for t in range(3):\n    x = self.denoise_fn(x, t)", "@torch.no_grad()"),
    ],
)
def test_leaves_layers_and_parts_of_a_forward_pass_alone(loop: str, decorator: str) -> None:
    assert loops(loop, decorator) == []


CASCADE = """
def default(value, make):
    return value if value is not None else make()

class Cascade(nn.Module):
    def __init__(self, unets):
        super().__init__()
        self.unets = nn.ModuleList([])
        for one in unets:
            self.unets.append(one.for_stage(len(self.unets)))

    def mean(self, unet, x, t, output=None):
        return x - default(output, lambda: unet.forward_with_scale(x, t))

    @torch.no_grad()
    def loop(self, unet, shape, times, device, **options):
        x = torch.randn(shape, device=device)
        for t in times:
            x = self.mean(unet, x, t, **options)
        return x

    @torch.no_grad()
    def sample(self, shape, times, device):
        for unet in self.unets:
            x = self.loop(unet, shape, times, device)
        return x
"""


def test_follows_models_of_a_list_into_closures() -> None:
    found = [(fact.loop, fact.boundary) for fact in facts(CASCADE) if isinstance(fact, StepBoundary)]
    assert found == [("decoding", "none")]


DENOISER = """
class Diffusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)

    DECORATOR
    def p_sample(self, x, t):
        return x - CALLED

    def forward(self, x, steps, infer=False):
        if not infer:
            return self.net(x).mean()
        for t in reversed(range(steps)):
            FED
        return x

model = Diffusion().to(torch_xla.device())

def run(loader):
    for x in loader:
        model(x.to(torch_xla.device()), 100, infer=True)
"""


def denoised(decorator: str, fed: str = "x = self.p_sample(x, t)", called: str = "self.net(x)") -> bool:
    text = DENOISER.replace("DECORATOR", decorator).replace("FED", fed).replace("CALLED", called)
    return ("decoding", "none") in [
        (fact.loop, fact.boundary) for fact in facts(text) if isinstance(fact, StepBoundary)
    ]


@pytest.mark.parametrize("decorator", ["@torch.no_grad()", "@torch.inference_mode()"])
def test_a_method_without_gradients_in_a_forward_pass_samples(decorator: str) -> None:
    assert denoised(decorator)


def test_a_method_with_gradients_may_be_a_part_of_the_forward_pass() -> None:
    assert not denoised("")


@pytest.mark.parametrize(
    ("fed", "called"),
    [("y = self.p_sample(x, t)", "self.net(x)"), ("x = self.p_sample(x, t)", "x.mean()")],
)
def test_what_feeds_nothing_back_or_calls_no_part_is_no_sampling_loop(fed: str, called: str) -> None:
    assert not denoised("@torch.no_grad()", fed, called)


VOTES = """
def test(model, loader, votes=3):
    for i, x in enumerate(loader):
        x = x.cuda()
        pool = torch.zeros(8, 10).cuda()
        for _ in range(COUNT):
            pool += model(x)
        print(pool.max().item())

if __name__ == "__main__":
    args = parser.parse_args()
    test(nn.Linear(3, 10).cuda(), torch.utils.data.DataLoader(data), votes=args.votes)
"""


@pytest.mark.parametrize(
    ("count", "found"), [("votes", []), ("3", []), ("len(model.parts)", ["decoding"]), ("90", ["decoding"])]
)
def test_takes_a_few_calls_in_each_step_for_a_part_of_it(count: str, found: list[str]) -> None:
    kinds = [fact.loop for fact in facts(VOTES.replace("COUNT", count)) if isinstance(fact, StepBoundary)]
    assert [kind for kind in kinds if kind == "decoding"] == found


FALLBACK = """
def predict(model, batch):
    batch = batch.cuda()
    results = []
    try:
        BODY
    except HANDLED:
        HANDLER
    return results

predict(nn.Linear(3, 10).cuda(), torch.ones(8, 3))
"""
LOOP = "for x in batch.split(1): results.append(model(x))"


@pytest.mark.parametrize(
    ("body", "handler", "found"),
    [("results.append(model(batch))", LOOP, 0), (LOOP, "pass", 1)],
)
def test_leaves_what_runs_only_after_a_failure(body: str, handler: str, found: int) -> None:
    text = FALLBACK.replace("BODY", body).replace("HANDLED", "RuntimeError").replace("HANDLER", handler)
    assert sum(isinstance(fact, StepBoundary) for fact in facts(text)) == found


METRIC = """
from torchmetrics import Metric

class Errors(Metric):
    def update(self, x, y):
        self.delta.append(x - y)

    def compute(self):
        return RESULT

def evaluate(model, loader, device):
    metric = Errors().to(device)
    for x in loader:
        x = x.to(device)
        CALL

evaluate(nn.Linear(3, 3).cuda(), torch.utils.data.DataLoader(data), torch.device("cuda"))
"""


@pytest.mark.parametrize(
    ("result", "call", "boundary"),
    [
        ("torch.cat(self.delta).cpu().numpy()", "metric(x, model(x))", "read"),
        ("torch.cat(self.delta).cpu().numpy()", "metric.update(x, model(x))", "none"),
        ("torch.cat(self.delta)", "metric(x, model(x))", "none"),
    ],
)
def test_knows_that_the_call_of_a_metric_computes_it(result: str, call: str, boundary: str) -> None:
    text = METRIC.replace("RESULT", result).replace("CALL", call)
    assert [fact.boundary for fact in facts(text) if isinstance(fact, StepBoundary)] == [boundary]


AT_TIMES = """
def validate(model, loader, shows):
    for i, x in enumerate(loader):
        y = model(x.cuda()).argmax(-1)
        CALL

model = nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for i, x in enumerate(torch.utils.data.DataLoader(data)):
    optimizer.zero_grad()
    model(x.cuda()).sum().backward()
    optimizer.step()
    if i % 100 == 0:
        validate(model, torch.utils.data.DataLoader(other), shows)
"""


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("print(y.sum().item())", "read"),
        ("if x in shows: print(y.sum().item())", "some"),
        ("if x in shows: shows.append(y)", "none"),
        ("if i % 10 == 0: print(y.sum().item())\n        shows.append(y)", "none"),
    ],
)
def test_knows_the_reads_of_some_branches_in_a_loop_that_runs_at_times(call: str, found: str) -> None:
    kinds = {
        fact.loop: fact.boundary
        for fact in facts(AT_TIMES.replace("CALL", call))
        if isinstance(fact, StepBoundary)
    }
    assert kinds["evaluation"] == found
