"""From what is not Python to facts: requirements, images, settings, scripts, kernels. Knows no rule."""

from __future__ import annotations

from xlamig.artifacts.files import facts_of, native_of, setup_py_facts

__all__ = ["facts_of", "native_of", "setup_py_facts"]
