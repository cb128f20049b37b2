"""The forms of SOURCES, and the errors with the line of the mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fleet.conftest import commit, mirror

from xlamig.engine import UsageError
from xlamig.fleet.sources import find_sources


def a_list(folder: Path, text: str, name: str = "fleet.csv") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,location,hours\na,b,1\n", "no column 'hours'"),
        ("name,location,gpu_hour\na,b,1\n", 'did you mean "gpu_hours"'),
        ("name,gpu\na,a100\n", "needs a column 'location'"),
        ("name,location\na,\n", "fleet.csv:2: no location"),
        ("location,gpu\n/a,b100x\n", "fleet.csv:2: gpu: no figures for 'b100x'"),
        ("location,gpu,gpu_hours\n/a,a100,many\n", "fleet.csv:2: gpu_hours: expected a number"),
        ("location,gpu,gpu_hours\n/a,a100,-1\n", "expected a number"),
        ("location,gpu,gpu_hours\n/a,a100,nan\n", "expected a number"),
        ("location,gpu,gpu_hours\n/a,,5\n", "gpu_hours need a gpu"),
        ("location,gpu\n/a,a100,5\n", "3 cells under 2 columns"),
        ("name,location\nx,/a\nx,/b\n", "two repositories are called 'x'"),
        ("", "no repository"),
        ("# nothing yet\n", "no repository"),
        ("\0\1", "neither a folder nor a list"),
    ],
)
def test_refuses_a_broken_list(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_sources([a_list(tmp_path, text)])
    assert said in str(caught.value)


@pytest.mark.parametrize("given", ["", "/no/such/place", "trian.csv"])
def test_refuses_a_path_that_is_not_there(given: str) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        find_sources([given])


def test_reads_a_list_of_locations(tmp_path: Path) -> None:
    text = "# ours\n\nhttps://example.org/team/one.git\ngit@example.org:team/two.git\nthree\n"
    found = find_sources([a_list(tmp_path, text, "fleet.txt")])
    assert [source.name for source in found] == ["team/one", "team/two", "three"]
    assert found[2].location == (tmp_path / "three").as_posix()


def test_reads_a_table(tmp_path: Path) -> None:
    text = "location\trevision\tfolder\tgpu\tgpu_hours\nmono\tv1\tvision/\tH100\t12.5\n"
    (found,) = find_sources([a_list(tmp_path, text)])
    assert (found.name, found.revision, found.folder) == ("mono/vision", "v1", "vision")
    assert (found.gpu, found.gpu_hours) == ("h100", 12.5)


def test_a_folder_of_mirrors_is_its_mirrors(tmp_path: Path) -> None:
    commit(tmp_path / "tree", {"a.py": ""})
    mirror(tmp_path / "tree", tmp_path / "all" / "one.git")
    mirror(tmp_path / "tree", tmp_path / "all" / "team" / "two.git")
    assert [source.name for source in find_sources([str(tmp_path / "all")])] == ["one", "two"]


def test_a_folder_outside_git_is_one_repository(tmp_path: Path) -> None:
    (tmp_path / "code" / "package").mkdir(parents=True)
    assert [source.name for source in find_sources([str(tmp_path / "code")])] == ["code"]


def test_repositories_with_one_name_get_their_folders_names(tmp_path: Path) -> None:
    for team in "ab":
        commit(tmp_path / team / "model", {"a.py": ""})
    found = find_sources([str(tmp_path / "a" / "model"), str(tmp_path / "b" / "model")])
    assert [source.name for source in found] == ["a/model", "b/model"]


def test_a_repository_named_twice_is_scanned_once(tmp_path: Path) -> None:
    commit(tmp_path / "model", {"a.py": ""})
    assert len(find_sources([str(tmp_path / "model"), str(tmp_path / "model")])) == 1
