from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from xlamig.observe.run import QUICK_COMPILATION

from .pool import Pool


@pytest.fixture(scope="session", autouse=True)
def _quick_compilation() -> Iterator[None]:
    """Small programs run for moments here, and what they do does not depend on how fast it is."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUICK_COMPILATION.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="session")
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    if os.environ.get("XLAMIG_NO_EVIDENCE") == "1":
        pytest.skip("XLAMIG_NO_EVIDENCE=1")
    pool = Pool()
    # Under xdist every process holds all items, so each runs only what it is asked for.
    if "PYTEST_XDIST_WORKER" not in os.environ:
        callspecs = [getattr(item, "callspec", None) for item in request.session.items]
        wanted = [spec.params.get("run") for spec in callspecs if spec]
        pool.prefetch([run[1] for run in wanted if isinstance(run, tuple)])
    yield pool
    pool.close()
