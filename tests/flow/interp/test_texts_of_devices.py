"""A text that is put together names a device by its beginning."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
def place(args):
    return DEVICE

def evaluate(model, loader, args):
    device = torch.device(place(args))
    for x in loader:
        x = x.to(device)
        print(x.mean().item())
"""
READ = "host-read item: x.mean().item()"


@pytest.mark.parametrize(
    "device",
    [
        "'cuda:{}'.format(args.gpu)",
        "'cuda:{0}'.format(args.gpu)",
        "'{}:{}'.format('cuda', args.gpu)",
        "'cuda:%d' % args.gpu",
        "'%s:%d' % ('cuda', args.gpu)",
        "'cuda:{}'.format(args.gpu) if torch.cuda.is_available() else 'cpu'",
        "'cpu' if not torch.cuda.is_available() else 'cuda:%s' % args.gpu",
    ],
)
def test_an_accelerator(device: str) -> None:
    assert READ in said(PROGRAM.replace("DEVICE", device), "host-read")


@pytest.mark.parametrize(
    "device", ["'cpu:{}'.format(args.core)", "'cpu:%d' % args.core", "'{}:{}'.format('cpu', args.core)"]
)
def test_the_host(device: str) -> None:
    assert READ not in said(PROGRAM.replace("DEVICE", device), "host-read")
