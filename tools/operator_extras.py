"""Calls that torch's test suite has no entry for, or not with the arguments that matter to a target."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import torch
import torch.nn.functional as F
from operator_samples import Sample, call, of_module
from torch import nn

Entry = tuple[str, tuple[str, ...], Callable[[], Iterator[Sample]]]


def _x(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


def _interpolate() -> Iterator[Sample]:
    sizes = {
        "linear": (1, 2, 8),
        "bilinear": (1, 2, 8, 8),
        "bicubic": (1, 2, 8, 8),
        "trilinear": (1, 2, 4, 4, 4),
    }
    for mode, shape in sizes.items():
        for corners in (False, True):
            yield call(F.interpolate, _x(*shape), scale_factor=2, mode=mode, align_corners=corners)
            yield call(F.interpolate, _x(*shape), size=5, mode=mode, align_corners=corners)
    for mode in ("nearest", "area", "nearest-exact"):
        for shape in ((1, 2, 8), (1, 2, 8, 8), (1, 2, 4, 4, 4)):
            yield call(F.interpolate, _x(*shape), scale_factor=2, mode=mode)
    for mode, antialias in product(("bilinear", "bicubic"), (True, False)):
        yield call(F.interpolate, _x(1, 2, 8, 8), size=(4, 4), mode=mode, antialias=antialias)


def _upsample() -> Iterator[Sample]:
    shapes = {"nearest": (1, 2, 8, 8), "linear": (1, 2, 8), "bilinear": (1, 2, 8, 8), "bicubic": (1, 2, 8, 8)}
    for mode, shape in (*shapes.items(), ("trilinear", (1, 2, 4, 4, 4))):
        yield _module(nn.Upsample, _x(*shape), scale_factor=2, mode=mode)


def _unique() -> Iterator[Sample]:
    x = torch.randint(0, 4, (12,))
    for ordered, inverse, counts in product((True, False), repeat=3):
        yield call(torch.unique, x, sorted=ordered, return_inverse=inverse, return_counts=counts)
    yield call(torch.unique, x)
    yield call(torch.unique, x.view(3, 4), dim=0)


def _nonzero() -> Iterator[Sample]:
    yield call(torch.nonzero, _x(3, 4))
    yield call(torch.nonzero, _x(3, 4), as_tuple=False)
    yield call(torch.nonzero, _x(3, 4), as_tuple=True)


def _scatter_reduce() -> Iterator[Sample]:
    index = torch.tensor([[0, 1, 0], [1, 0, 1]])
    for reduce, own in product(("sum", "prod", "mean", "amax", "amin"), (True, False)):
        yield call(torch.scatter_reduce, _x(2, 3), 0, index, _x(2, 3), reduce, include_self=own)


def _multinomial() -> Iterator[Sample]:
    for count, again in ((1, True), (1, False), (3, True), (3, False)):
        yield call(torch.multinomial, torch.rand(2, 6), count, replacement=again)


def _embedding() -> Iterator[Sample]:
    ids = torch.tensor([[0, 1], [2, 3]])
    yield _module(nn.Embedding, ids, num_embeddings=10, embedding_dim=4)
    yield _module(nn.Embedding, ids, num_embeddings=10, embedding_dim=4, padding_idx=0)
    yield _module(nn.Embedding, ids, num_embeddings=10, embedding_dim=4, max_norm=1.0)
    yield _module(nn.Embedding, ids, num_embeddings=10, embedding_dim=4, scale_grad_by_freq=True)
    yield _module(nn.Embedding, ids, num_embeddings=10, embedding_dim=4, sparse=True)


def _embedding_bag() -> Iterator[Sample]:
    ids = torch.tensor([[0, 1], [2, 3]])
    for mode in ("sum", "mean", "max"):
        yield _module(nn.EmbeddingBag, ids, num_embeddings=10, embedding_dim=4, mode=mode)


def _std_mean() -> Iterator[Sample]:
    for function in (torch.std_mean, torch.var_mean):
        yield call(function, _x(3, 4))
        yield call(function, _x(3, 4), dim=1)


def _norms() -> Iterator[Sample]:
    for p in (1, 2, 3, 0, float("inf"), "fro", "nuc"):
        yield call(torch.norm, _x(4, 4), p)


def _scaled_dot_product() -> Iterator[Sample]:
    q, k, v = _x(2, 4, 8, 16), _x(2, 4, 8, 16), _x(2, 4, 8, 16)
    for causal in (False, True):
        yield call(F.scaled_dot_product_attention, q, k, v, is_causal=causal)
    yield call(F.scaled_dot_product_attention, q, k, v, attn_mask=torch.ones(8, 8, dtype=torch.bool).tril())
    yield call(F.scaled_dot_product_attention, q, k[:, :2], v[:, :2], enable_gqa=True)


def _clip(function: Callable[..., object], *args: object, **kwargs: object) -> Iterator[Sample]:
    def run(parameter: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
        parameter.grad = gradient
        function([parameter], *args, **kwargs)
        return gradient

    yield call(run, _x(4, 4), _x(4, 4))


def _in_place(method: str, *others: object) -> Callable[[], Iterator[Sample]]:
    def samples() -> Iterator[Sample]:
        yield call(getattr(torch.Tensor, method), _x(4, 4), *others)

    return samples


def _one(function: Callable[..., object], *args: object, **kwargs: object) -> Callable[[], Iterator[Sample]]:
    def samples() -> Iterator[Sample]:
        yield call(function, *args, **kwargs)

    return samples


def _module(cls: type[nn.Module], *args: torch.Tensor, **made_with: object) -> Sample:
    return of_module(cls(**made_with), (), made_with, args)


def _modules(*samples: Callable[[], Sample]) -> Callable[[], Iterator[Sample]]:
    return lambda: (make() for make in samples)


def _same(name: str, *more: str) -> tuple[str, ...]:
    return (f"torch.nn.{name}", *more)


_i4, _f4 = torch.randint(0, 5, (4, 4)), torch.randn(4, 4)

EXTRAS: tuple[Entry, ...] = (
    ("interpolate", ("torch.nn.functional.interpolate", "torch.nn.functional.upsample"), _interpolate),
    ("Upsample", _same("Upsample"), _upsample),
    ("unique", ("torch.unique", "Tensor.unique"), _unique),
    ("nonzero", ("torch.nonzero", "Tensor.nonzero"), _nonzero),
    ("scatter_reduce", ("torch.scatter_reduce", "Tensor.scatter_reduce"), _scatter_reduce),
    ("multinomial", ("torch.multinomial", "Tensor.multinomial"), _multinomial),
    ("Embedding", _same("Embedding"), _embedding),
    ("EmbeddingBag", _same("EmbeddingBag"), _embedding_bag),
    ("norm", ("torch.norm", "Tensor.norm"), _norms),
    ("sdpa", ("torch.nn.functional.scaled_dot_product_attention",), _scaled_dot_product),
    (
        "clip_grad_norm_",
        ("torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad.clip_grad_norm_"),
        lambda: _clip(nn.utils.clip_grad_norm_, 1.0),
    ),
    ("clip_grad_value_", ("torch.nn.utils.clip_grad_value_",), lambda: _clip(nn.utils.clip_grad_value_, 1.0)),
    (
        "nonzero_static",
        ("torch.nonzero_static", "Tensor.nonzero_static"),
        _one(torch.nonzero_static, _f4, size=4),
    ),
    (
        "_int_mm",
        ("torch._int_mm",),
        _one(torch._int_mm, torch.ones(32, 32, dtype=torch.int8), torch.ones(32, 32, dtype=torch.int8)),
    ),
    ("slogdet", ("torch.slogdet", "Tensor.slogdet"), _one(torch.slogdet, _f4)),
    ("chain_matmul", ("torch.chain_matmul",), _one(torch.chain_matmul, _f4, _f4, _f4)),
    ("vander", ("torch.vander",), _one(torch.vander, _f4[0])),
    ("affine_grid", ("torch.nn.functional.affine_grid",), _one(F.affine_grid, _x(1, 2, 3), [1, 1, 4, 4])),
    ("fold", ("torch.nn.functional.fold",), _one(F.fold, _x(1, 12, 12), (4, 5), (2, 2))),
    ("lp_pool1d", ("torch.nn.functional.lp_pool1d",), _one(F.lp_pool1d, _x(1, 2, 8), 2, 2)),
    ("lp_pool2d", ("torch.nn.functional.lp_pool2d",), _one(F.lp_pool2d, _x(1, 2, 8, 8), 2, 2)),
    ("lp_pool3d", ("torch.nn.functional.lp_pool3d",), _one(F.lp_pool3d, _x(1, 2, 4, 4, 4), 2, 2)),
    ("gumbel_softmax", ("torch.nn.functional.gumbel_softmax",), _one(F.gumbel_softmax, _x(2, 4))),
    ("randperm", ("torch.randperm",), _one(torch.randperm, 6, device="cpu")),
    ("rand", ("torch.rand",), _one(torch.rand, 2, 3, device="cpu")),
    ("poisson", ("torch.poisson",), _one(torch.poisson, torch.rand(4))),
    ("hann_window", ("torch.hann_window",), _one(torch.hann_window, 8, device="cpu")),
    ("hamming_window", ("torch.hamming_window",), _one(torch.hamming_window, 8, device="cpu")),
    ("bartlett_window", ("torch.bartlett_window",), _one(torch.bartlett_window, 8, device="cpu")),
    ("blackman_window", ("torch.blackman_window",), _one(torch.blackman_window, 8, device="cpu")),
    ("kaiser_window", ("torch.kaiser_window",), _one(torch.kaiser_window, 8, device="cpu")),
    ("fftfreq", ("torch.fft.fftfreq",), _one(torch.fft.fftfreq, 8, device="cpu")),
    ("rfftfreq", ("torch.fft.rfftfreq",), _one(torch.fft.rfftfreq, 8, device="cpu")),
    (
        "segment_reduce",
        ("torch.segment_reduce",),
        _one(torch.segment_reduce, _x(6), "sum", lengths=torch.tensor([2, 4])),
    ),
    ("copy_", ("Tensor.copy_",), _in_place("copy_", _x(4, 4))),
    ("random_", ("Tensor.random_",), _in_place("random_")),
    ("fill_diagonal_", ("Tensor.fill_diagonal_",), _in_place("fill_diagonal_", 0.0)),
    ("relu_", ("Tensor.relu_", "torch.relu_", "torch.nn.functional.relu_"), _in_place("relu_")),
    ("type_as", ("Tensor.type_as",), _in_place("type_as", torch.zeros(1, dtype=torch.bfloat16))),
    ("detach", ("Tensor.detach", "torch.detach"), _in_place("detach")),
    ("is_nonzero", ("Tensor.is_nonzero", "torch.is_nonzero"), _one(torch.is_nonzero, torch.ones(1))),
    ("to_sparse_csr", ("Tensor.to_sparse_csr",), _in_place("to_sparse_csr")),
    ("to_sparse_coo", ("Tensor.to_sparse_coo",), _in_place("to_sparse_coo")),
    (
        "quantize_per_tensor",
        ("torch.quantize_per_tensor",),
        _one(torch.quantize_per_tensor, _f4, 0.1, 0, torch.qint8),
    ),
    (
        "fake_quantize_per_tensor_affine",
        ("torch.fake_quantize_per_tensor_affine",),
        _one(torch.fake_quantize_per_tensor_affine, _f4, 0.1, 0, 0, 255),
    ),
    (
        "fake_quantize_per_channel_affine",
        ("torch.fake_quantize_per_channel_affine",),
        _one(
            torch.fake_quantize_per_channel_affine,
            _f4,
            torch.ones(4),
            torch.zeros(4, dtype=torch.int32),
            0,
            0,
            255,
        ),
    ),
    ("Identity", _same("Identity"), _modules(lambda: _module(nn.Identity, _f4))),
    ("Flatten", _same("Flatten"), _modules(lambda: _module(nn.Flatten, _x(2, 3, 4)))),
    (
        "Unflatten",
        _same("Unflatten"),
        _modules(lambda: _module(nn.Unflatten, _x(2, 6), dim=1, unflattened_size=(2, 3))),
    ),
    (
        "Fold",
        _same("Fold"),
        _modules(lambda: _module(nn.Fold, _x(1, 12, 12), output_size=(4, 5), kernel_size=(2, 2))),
    ),
    ("Unfold", _same("Unfold"), _modules(lambda: _module(nn.Unfold, _x(1, 3, 4, 5), kernel_size=(2, 2)))),
    (
        "PixelShuffle",
        _same("PixelShuffle"),
        _modules(lambda: _module(nn.PixelShuffle, _x(1, 8, 4, 4), upscale_factor=2)),
    ),
    (
        "PixelUnshuffle",
        _same("PixelUnshuffle"),
        _modules(lambda: _module(nn.PixelUnshuffle, _x(1, 2, 4, 4), downscale_factor=2)),
    ),
    (
        "ChannelShuffle",
        _same("ChannelShuffle"),
        _modules(lambda: _module(nn.ChannelShuffle, _x(1, 8, 4, 4), groups=2)),
    ),
    (
        "CosineSimilarity",
        _same("CosineSimilarity"),
        _modules(lambda: _module(nn.CosineSimilarity, _f4, _x(4, 4))),
    ),
    (
        "PairwiseDistance",
        _same("PairwiseDistance"),
        _modules(lambda: _module(nn.PairwiseDistance, _f4, _x(4, 4))),
    ),
    (
        "TripletMarginLoss",
        _same("TripletMarginLoss"),
        _modules(lambda: _module(nn.TripletMarginLoss, _f4, _x(4, 4), _x(4, 4))),
    ),
    (
        "TripletMarginWithDistanceLoss",
        _same("TripletMarginWithDistanceLoss"),
        _modules(lambda: _module(nn.TripletMarginWithDistanceLoss, _f4, _x(4, 4), _x(4, 4))),
    ),
    ("Hardsigmoid", _same("Hardsigmoid"), _modules(lambda: _module(nn.Hardsigmoid, _f4))),
    (
        "CrossMapLRN2d",
        _same("CrossMapLRN2d"),
        _modules(lambda: _module(nn.CrossMapLRN2d, _x(1, 4, 4, 4), size=2)),
    ),
    (
        "UpsamplingNearest2d",
        _same("UpsamplingNearest2d"),
        _modules(lambda: _module(nn.UpsamplingNearest2d, _x(1, 2, 4, 4), scale_factor=2)),
    ),
    (
        "UpsamplingBilinear2d",
        _same("UpsamplingBilinear2d"),
        _modules(lambda: _module(nn.UpsamplingBilinear2d, _x(1, 2, 4, 4), scale_factor=2)),
    ),
    *(
        (
            f"MaxUnpool{n}d",
            _same(f"MaxUnpool{n}d"),
            _modules(
                lambda n=n: _module(
                    getattr(nn, f"MaxUnpool{n}d"),
                    *getattr(F, f"max_pool{n}d")(_x(1, 1, *[4] * n), 2, return_indices=True),
                    kernel_size=2,
                )
            ),
        )
        for n in (1, 2, 3)
    ),
    *(
        (name, _same(name), _modules(lambda name=name, shape=shape: _module(getattr(nn, name), _x(*shape))))
        for name, shape in {
            "Dropout": (4, 4),
            "Dropout1d": (2, 3, 4),
            "Dropout2d": (2, 3, 4, 4),
            "Dropout3d": (2, 3, 4, 4, 4),
            "AlphaDropout": (4, 4),
            "FeatureAlphaDropout": (2, 3, 4, 4),
            "RReLU": (4, 4),
        }.items()
    ),
    (
        "AdaptiveLogSoftmaxWithLoss",
        _same("AdaptiveLogSoftmaxWithLoss"),
        _modules(
            lambda: _module(
                nn.AdaptiveLogSoftmaxWithLoss,
                _x(8, 16),
                torch.randint(0, 20, (8,)),
                in_features=16,
                n_classes=20,
                cutoffs=[5, 10],
            )
        ),
    ),
    (
        "TransformerDecoder",
        _same("TransformerDecoder"),
        _modules(
            lambda: _module(
                nn.TransformerDecoder,
                _x(2, 4, 8),
                _x(2, 4, 8),
                decoder_layer=nn.TransformerDecoderLayer(8, 2, 16, 0.0),
                num_layers=1,
            )
        ),
    ),
)
