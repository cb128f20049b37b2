"""Files of pip."""

from __future__ import annotations

import pytest
from said import facts, malformed, packages, placed, settings

from xlamig.facts import Package


@pytest.mark.parametrize(
    "text",
    [
        "# flash-attn is optional\n",
        "\n\n",
        "-r base.txt\n-c constraints.txt\n",
        "--no-binary :all:\n",
        'triton; sys_platform == "win32"\n',
        'cupy; platform_machine == "aarch64"\n',
        "${PACKAGE}\n",
        "./local/package\n",
        "-e .\n",
    ],
)
def test_silent(text: str) -> None:
    assert facts(text, "requirements") == []


def test_a_requirement_with_all_that_can_go_with_it() -> None:
    text = 'Flash_Attn[fast]>=2.5 ; python_version >= "3.9"  # why\n'
    assert packages(text, "requirements") == [("flash-attn", ">=2.5")]
    assert placed(text, "requirements") == {"flash-attn": 'Flash_Attn[fast]>=2.5 ; python_version >= "3.9"'}


def test_hashes_and_continued_lines_belong_to_one_requirement() -> None:
    text = "numpy==1.26 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\nxformers\n"
    assert packages(text, "requirements") == [("numpy", "==1.26"), ("xformers", "")]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("flash_attn @ https://example.org/flash_attn-2.5-cp311-cp311-linux_x86_64.whl", "flash-attn"),
        ("https://example.org/flash_attn-2.5+cu12-cp311-cp311-linux_x86_64.whl", "flash-attn"),
        ("git+https://github.com/NVIDIA/apex.git@master", "apex"),
        ("-e git+https://github.com/x/y.git#egg=detectron2", "detectron2"),
    ],
)
def test_the_distribution_of_a_url(line: str, name: str) -> None:
    assert [found for found, _ in packages(f"{line}\n", "requirements")] == [name]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("--index-url https://download.pytorch.org/whl/cu121", ""),
        ("-i https://download.pytorch.org/whl/cu121", ""),
        ("--extra-index-url=https://download.pytorch.org/whl/cu121", "extra"),
        ("-f https://download.pytorch.org/whl/cu121", "extra"),
    ],
)
def test_an_index(line: str, path: str) -> None:
    (fact,) = facts(f"{line}\n", "requirements")
    assert (fact.kind, getattr(fact, "name", ""), getattr(fact, "path", None)) == (
        "environment",
        "download.pytorch.org/whl/cu121",
        path,
    )


@pytest.mark.parametrize(
    ("version", "admits", "leaves_out"),
    [
        ("==1.13.1", "1.13", "2.9"),
        (">=2.0,<2.5", "2.4", "2.5"),
        ("", "2.9", "9.9"),
        ("~=2.8.0", "2.8", "2.9"),
    ],
)
def test_releases_of_torch_that_a_requirement_admits(version: str, admits: str, leaves_out: str) -> None:
    (fact,) = facts(f"torch{version}\n", "requirements")
    assert isinstance(fact, Package)
    assert admits in fact.releases and leaves_out not in fact.releases


def test_a_build_for_the_cpu_is_a_release_like_any_other() -> None:
    (fact,) = facts("torch==2.9.1+cpu\n", "requirements")
    assert isinstance(fact, Package)
    assert fact.cuda == "" and fact.releases == {"2.9"}


def test_a_build_for_cuda() -> None:
    (fact,) = facts("torch==2.4.1+cu121\n", "requirements")
    assert isinstance(fact, Package)
    assert fact.cuda == "cu121" and fact.releases == {"2.4"}


def test_a_line_that_is_no_requirement_costs_itself_alone() -> None:
    text = "numpy\nflash-attn = = 2\nxformers\n"
    assert malformed(text, "requirements")[0][0] == 2
    assert packages(text, "requirements") == [("numpy", ""), ("xformers", "")]


def test_windows_line_ends() -> None:
    text = "numpy\r\nxformers\r\n"
    assert placed(text, "requirements") == {"numpy": "numpy", "xformers": "xformers"}
    assert settings(text, "requirements") == []
