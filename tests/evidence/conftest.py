from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .pool import Pool


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
