from __future__ import annotations

from .said import facts

TWO = """
class One(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(1))
        self.scale.slow = True

class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(1))
        self.scale.slow = True

def main(name):
    if name == "one":
        model = One()
    else:
        model = Other()
    model.cuda()

main(input())
"""


def test_of_two_classes_the_same_one_is_named_in_every_run() -> None:
    """A set of classes is ordered by their addresses: keep what each run makes, so that they differ."""
    kept: list[object] = []
    related = set()
    for count in range(30):
        (move,) = [fact for fact in facts(TWO) if fact.kind == "module-move"]
        related.add(move.related)
        kept.append([object() for _ in range(count)])
    assert len(related) == 1
