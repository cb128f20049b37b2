"""The cache: its content, its moments, and what it does not trust."""

from __future__ import annotations

import os
import pickle
import sqlite3
import subprocess
import sys
import zlib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from small_project import FILES, PAGE, check, codes, write

from xlamig import engine
from xlamig.artifacts.native import Links, Native
from xlamig.config.settings import Settings
from xlamig.engine import cache as caching
from xlamig.engine import clean, loader, run, session
from xlamig.engine.analyse import analyse
from xlamig.engine.cache import Cache, digest, remove
from xlamig.engine.jobs import Analysed, AnalyseJob
from xlamig.engine.load import Failure, Loaded, LoadJob, Parsed, load
from xlamig.engine.options import Options, UsageError
from xlamig.engine.session import session_for
from xlamig.fix.scope import Scope
from xlamig.flow.interp.visits import Visit
from xlamig.flow.model.callers import Callers
from xlamig.flow.model.pieces import Pieces
from xlamig.rulebook import Program
from xlamig.source.text import SourceText


class Worked(BaseException):
    """A stage did something that it could have remembered."""


def as_in_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    for memory in ("_sessions", "_books", "_files", "_parsed"):
        monkeypatch.setattr(session, memory, {})


def forbid_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(job: object) -> Any:
        raise Worked(job)

    monkeypatch.setattr(loader, "load", refuse)
    monkeypatch.setattr(run, "analyse", refuse)


def test_an_unchanged_run_does_no_work(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = check()
    forbid_work(monkeypatch)
    assert check() == first
    assert codes(first, "app/train.py") and codes(first, "broken.py") == ["XLA000"]


def test_without_the_cache_nothing_is_remembered(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check(cache=False)
    assert not (project / ".xlamig_cache").exists()
    check()
    forbid_work(monkeypatch)
    with pytest.raises(Worked):
        check(cache=False)


def test_only_the_changed_file_is_worked_on(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check()
    write({"tools.py": "import torch\n"}, project)
    worked: list[str] = []

    def loading(job: LoadJob) -> Loaded:
        worked.append(job.module)
        return load(job)

    def analysing(job: AnalyseJob) -> Analysed:
        worked.append(job.source.filename)
        return analyse(job)

    monkeypatch.setattr(loader, "load", loading)
    monkeypatch.setattr(run, "analyse", analysing)
    assert codes(check(), "tools.py") == []
    assert worked == ["tools", "tools.py"]


def test_importers_rely_on_what_a_module_offers_not_on_what_it_calls() -> None:
    body = "import torch\nimport far\ndef f(x):\n    {}\n"
    one, other = (load(LoadJob(body.format(line), "near", False, True)) for line in ("far.a(x)", "far.b(x)"))
    assert one.interface and other.interface and one.interface.calls != other.interface.calls
    assert one.seal == other.seal
    assert one.seal != load(LoadJob("import torch\nimport far\ng = 1\n", "near", False, True)).seal


def test_a_changed_import_changes_its_importers(project: Path) -> None:
    assert "XLA005" in codes(check(), "app/train.py")
    write({"app/compat.py": "from time import sleep as wait\n"}, project)
    assert "XLA005" not in codes(check(), "app/train.py")
    through = "import torch\nfrom app.far import wait\n"
    write({"app/compat.py": through, "app/far.py": FILES["app/compat.py"]}, project)
    assert "XLA005" in codes(check(), "app/train.py")
    write({"app/far.py": "def wait(): pass\n"}, project)
    assert "XLA005" not in codes(check(), "app/train.py")


def test_settings_and_targets_have_results_of_their_own(project: Path) -> None:
    default = check()
    assert check(ignore=["XLA005"]) != default
    assert check(target="torch_tpu").target == "torch_tpu"
    assert check() == default
    write({"pyproject.toml": "[tool.xlamig]\nselect = ['XLA006']\n"}, project)
    assert {f.code for f in check().findings} == {"XLA006"}


def test_a_helper_of_another_name_is_another_book() -> None:
    one, other = (session_for(Settings(helper=name)).outline.interest for name in ("mine", "yours"))
    assert (one.helper, other.helper) == ("mine", "yours")


def test_another_rulebook_has_results_of_its_own(project: Path) -> None:
    assert codes(check(), "app/clean.py") == []
    write({"ours/XLA777-no-zeros.md": PAGE}, project)
    assert codes(check(rules=["ours"]), "app/clean.py") == ["XLA777"]
    assert codes(check(), "app/clean.py") == []


def test_an_unchanged_book_is_not_compiled(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> Any:
        raise Worked(args)

    first = check()
    as_in_a_new_process(monkeypatch)
    monkeypatch.setattr(session, "compile_book", refuse)
    assert check() == first
    write({"tools.py": "import torch\n"}, project)
    with pytest.raises(Worked):
        check()


def test_the_toml_of_an_unchanged_book_is_parsed_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> Any:
        raise Worked(args)

    check()
    as_in_a_new_process(monkeypatch)
    monkeypatch.setattr(session, "read_heads", refuse)
    write({"tools.py": FILES["tools.py"] + "\ntorch.cuda.synchronize()\n"}, project)
    assert codes(check(target="torch_tpu"), "tools.py")
    write({"ours/XLA777-no-zeros.md": PAGE}, project)
    with pytest.raises(Worked):
        check(rules=["ours"])


def test_a_page_that_breaks_is_told_although_its_last_state_is_remembered(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"ours/XLA777-no-zeros.md": PAGE}, project)
    check(rules=["ours"])
    as_in_a_new_process(monkeypatch)
    write({"ours/XLA777-no-zeros.md": PAGE.replace("[[match]]", "[[matches]]")}, project)
    with pytest.raises(UsageError, match="matches: unknown key"):
        check(rules=["ours"])


def test_a_page_that_changes_counts_at_once(project: Path) -> None:
    write({"ours/XLA777-no-zeros.md": PAGE}, project)
    assert codes(check(rules=["ours"]), "app/clean.py") == ["XLA777"]
    write({"ours/XLA777-no-zeros.md": PAGE.replace('"torch.zeros"', '"torch.ones"')}, project)
    assert codes(check(rules=["ours"]), "app/clean.py") == []


def test_a_moved_file_is_reported_where_it_is(project: Path) -> None:
    check()
    (project / "tools.py").rename(project / "app/tools.py")
    assert codes(check(), "app/tools.py") and not codes(check(), "tools.py")


def test_a_warm_run_imports_no_parser_no_interpreter_and_no_detectors(project: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from xlamig import engine; "
        "r = engine.check([Path()], engine.Options(jobs=1)); "
        "heavy = ('libcst', 'xlamig.flow.detectors.walk', 'xlamig.flow.interp.interpreter'); "
        "print(len(r.findings), sorted(m for m in sys.modules if m in heavy))"
    )

    def process(seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
        return done.stdout.strip()

    assert "['libcst', 'xlamig.flow.detectors.walk', 'xlamig.flow.interp.interpreter']" in process("0")
    assert process("1") == f"{len(check().findings)} []"


# ----------------------------------------------------------------- what may be wrong with a cache


class Evil:
    """A class that a hostile checkout may hold."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("raise SystemExit('this pickle was loaded')",)


def entries(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / ".xlamig_cache/cache.sqlite")


def test_entries_that_this_user_did_not_sign_are_ignored(project: Path) -> None:
    first = check()
    evil = zlib.compress(pickle.dumps(Evil()))
    with entries(project) as connection:
        connection.execute("UPDATE entries SET value = substr(value, 1, 16) || ?", (evil,))
    assert check() == first


def test_a_cache_of_another_user_is_ignored(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = check()
    (project / "home").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(project / "home"))
    assert check() == first
    forbid_work(monkeypatch)
    assert check() == first
    (project / "home/xlamig/key").write_bytes(bytes(32))
    with pytest.raises(Worked):
        check()


def test_an_entry_under_another_key_is_ignored(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put_many({"a": 1, "b": 2})
    with sqlite3.connect(tmp_path / "cache.sqlite") as connection:
        (value,) = connection.execute("SELECT value FROM entries WHERE key = 'a'").fetchone()
        connection.execute("UPDATE entries SET value = ? WHERE key = 'b'", (value,))
    assert cache.get_many(["a", "b"]) == {"a": 1}


def test_the_key_is_the_users_alone(project: Path) -> None:
    check()
    path = Path(os.environ["XDG_CACHE_HOME"], "xlamig/key")
    assert path.stat().st_mode & 0o777 == 0o600 and len(path.read_bytes()) == 32


def test_without_a_home_there_is_no_cache(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert check().findings


@pytest.mark.parametrize("damage", [b"not a database", b"SQLite format 3\0" + b"x" * 4096, b""])
def test_a_damaged_cache_is_made_anew(project: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes) -> None:
    first = check()
    (project / ".xlamig_cache/cache.sqlite").write_bytes(damage)
    assert check() == first
    forbid_work(monkeypatch)
    assert check() == first


def test_a_cache_damaged_in_the_middle_is_no_harm(project: Path) -> None:
    first = check()
    path = project / ".xlamig_cache/cache.sqlite"
    data = bytearray(path.read_bytes())
    data[4096:] = bytes(len(data) - 4096)
    path.write_bytes(bytes(data))
    assert check() == first


def test_a_cache_that_cannot_be_written_is_no_harm(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = check(cache=False)

    def refuse(*args: object, **options: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert check() == first


def test_a_file_in_place_of_the_folder_is_no_harm(project: Path) -> None:
    (project / ".xlamig_cache").write_text("mine")
    assert check().findings
    assert (project / ".xlamig_cache").read_text() == "mine"


def test_a_full_disk_is_no_harm(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(sqlite3.Connection):
        def executemany(self, *args: Any) -> Any:
            raise sqlite3.OperationalError("database or disk is full")

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda p, timeout: connect(p, timeout, factory=Full))
    assert check() == check(cache=False)


def test_a_cache_that_another_run_has_locked_is_no_harm(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = check()
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, timeout=0.0: connect(path, timeout / 100))
    write({"tools.py": "import torch\n"}, project)
    with entries(project) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert check() != first


def test_a_link_in_place_of_the_database_is_not_followed(project: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs.sqlite").write_bytes(b"precious")
    (project / ".xlamig_cache").mkdir()
    (project / ".xlamig_cache/cache.sqlite").symlink_to(tmp_path / "theirs.sqlite")
    assert check().findings
    assert (tmp_path / "theirs.sqlite").read_bytes() == b"precious"


def test_a_link_in_place_of_the_folder_does_not_leave_the_repository(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    inside = project / "inside"
    inside.mkdir()
    for folder, kept in ((tmp_path_factory.mktemp("outside"), False), (inside, True)):
        (project / ".xlamig_cache").unlink(missing_ok=True)
        (project / ".xlamig_cache").symlink_to(folder)
        check()
        assert any(folder.iterdir()) is kept


def test_a_cache_that_has_grown_too_large_starts_anew(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check()
    monkeypatch.setattr(caching, "_LIMIT", 100)
    forbid_work(monkeypatch)
    with pytest.raises(Worked):
        check()


def test_git_ignores_the_cache(project: Path) -> None:
    check()
    assert (project / ".xlamig_cache/.gitignore").read_text() == "*\n"


# ----------------------------------------------------------------------------- deleting it


def test_clean_deletes_the_cache(project: Path) -> None:
    check()
    assert (clean(Options()), clean(Options())) == (1, 0)
    assert not (project / ".xlamig_cache").exists()


def test_clean_deletes_nothing_else(project: Path) -> None:
    """`cache-dir = "."` is a bad idea, not a reason to lose the project."""
    engine.check([Path()], Options({"cache-dir": "."}, jobs=1))
    assert not (project / ".gitignore").exists()
    assert remove(project)
    assert (project / "tools.py").exists() and not (project / "cache.sqlite").exists()


JOB = AnalyseJob(SourceText("a.py", "x"), Path("/a.py"), "a", False, Settings(), b"tree", {})
CHANGED: dict[str, Any] = {
    "source": SourceText("a.py", "y"),
    "path": Path("/b.py"),
    "module": "b",
    "is_package": True,
    "settings": Settings(preview=True),
    "tree": b"another tree",
    "interfaces": {"b": load(LoadJob("import torch\n", "b", False, True)).interface},
    "failure": Failure("it does not parse", 1, 1),
    "home": Scope(Path("/"), "package."),
    "package": Path("/package"),
    "program": Program(frozenset({"torch.compile"})),
    "callers": Callers({"f": "step"}, frozenset()),
    "native": (Native(), Links(more=1)),
    "own": frozenset({"flash_attn"}),
    "visit": Visit(per_step=(1,)),
    "exposes": ("`exit` in b.py",),
    "beside": "test",
    "unread": "c.py",
    "gpu_only": "it imports `tensorrt`",
    "on_host": True,
    "unmentioned": ("f",),
    "off": (("f", "kind == 'log'"),),
    "switches": (("use_x", "off"),),
    "devices": (("device", "conf.yaml"),),
    "elsewhere": ("masks",),
    "starts_early": True,
    "kernels": ((3, "a.cu"),),
}


def key_of(job: AnalyseJob) -> str:
    """The key of a job, with what a run gives for its large fields."""
    seals = digest(sorted((module, digest(interface)) for module, interface in job.interfaces.items()))
    return job.key(digest(job.tree), seals, digest(job.settings))


def test_jobs_that_differ_in_any_field_have_different_keys() -> None:
    assert CHANGED.keys() | {"texts"} == {field.name for field in fields(AnalyseJob)}  # see Analysed.entered
    jobs = [JOB, *(replace(JOB, **{name: value}) for name, value in CHANGED.items())]
    jobs += [replace(JOB, source=replace(JOB.source, filename="b.py"))]
    assert len({key_of(job) for job in jobs}) == len(jobs)
    assert key_of(replace(JOB)) == key_of(JOB)


def test_a_key_is_the_same_in_every_process() -> None:
    names = [f"package_{i}" for i in range(20)]
    forward, backward = (
        replace(
            JOB,
            own=frozenset(some),
            program=Program(frozenset(some), frozenset(some)),
            callers=Callers({"f": "step"}, frozenset(some)),
            visit=Visit(events=(frozenset(some),)),  # type: ignore[arg-type]
        )
        for some in (names, names[::-1])
    )
    assert key_of(forward) == key_of(backward)


def test_jobs_of_the_first_stage_have_different_keys() -> None:
    job = LoadJob("x", "a", False, True)
    changed = {"text": "y", "module": "b", "is_package": True, "needed": False, "kind": "native"}
    assert changed.keys() == {field.name for field in fields(LoadJob)} - {"before"}
    jobs = [job, *(replace(job, **{name: value}) for name, value in changed.items())]  # type: ignore[arg-type]
    assert len({job.key() for job in jobs}) == len(jobs)
    assert replace(job, before=Parsed("y", b"", Pieces())).key() == job.key()


def test_a_key_depends_on_every_part_and_on_where_it_ends() -> None:
    keys = [digest("a", "b"), digest("ab", ""), digest("ab"), digest(b"a", "b"), digest("a", None)]
    assert len(set(keys)) == len(keys)
    assert digest("a", Settings()) == digest("a", Settings())
