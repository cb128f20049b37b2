"""C++ and CUDA sources: kernels, what binds them, and who calls them."""

from __future__ import annotations

from xlamig.artifacts.native.index import Links, NativeIndex
from xlamig.artifacts.native.summary import Native, may_matter

__all__ = ["Links", "Native", "NativeIndex", "may_matter"]
