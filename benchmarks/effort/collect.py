"""Find ports in git histories: the criterion of docs/effort.md.

usage: python -m benchmarks.effort.collect --mirror DIR [--head REF] OWNER/NAME ...

Prints one JSON object a repository: the port, or why it has none. The port is what the commits that
name XLA did from the first one that imports torch_xla until none came for 30 days, at most 180.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.effort.lines import SIDES, XLA, Change, Mine, authors, changes, count, git, introduced, is_new

GAP, LONGEST = 30 * 86400, 180 * 86400  # seconds
SHARE = 0.05  # of a commit's changed Python lines that name XLA, if its message does not
# A complete port runs on XLA by itself: it takes a device, and steps or launches.
DEVICE = re.compile(r"xla_device\(|torch_xla\.device\(|device\(.xla|get_xla_supported_devices|xla:")
STEP = re.compile(
    r"mark_step|optimizer_step|MpDeviceLoader|ParallelLoader|torch_xla\.(sync|step)\(|openxla|step_closure"
)
LAUNCH = re.compile(r"xmp\.spawn|torch_xla\.launch|xla_multiprocessing|use_spmd|xla_backend")
_IMPORT = r"(import|from)[[:space:]]+torch_xla"
_NAMED = r"(^|[^a-z])(torch_xla|xla|xm\.|xmp\.|tpu)"


def git_directory(mirror: Path, repo: str) -> Path | None:
    base = mirror / repo.replace("/", "+") / "repo"
    return next((path for path in (base / ".git", base) if (path / "objects").is_dir()), None)


def directory_of(mirror: Path, port: dict[str, Any]) -> Path | None:
    """Where git finds both ends of a port, also what only a fork's upstream has."""
    upstream = git_directory(mirror, port["upstream"]) if "upstream" in port else None
    os.environ["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = str(upstream / "objects") if upstream else ""
    return git_directory(mirror, port["repo"])


def find(directory: Path, head: str = "HEAD", start: str = "") -> dict[str, Any]:
    """The commits before and after, and those of the port between them; or `why` there is none.
    `start` is the commit that begins a later stretch of the same history."""
    rows = _log(directory, head, "-G", _IMPORT)
    first = next((row for row in rows if row[0].startswith(start)), None)
    if first is None:
        return {"why": "no commit imports torch_xla"}
    parents = git(directory, "show", "-s", "--format=%P", first[0]).split()
    if not parents:
        return {"why": "the first commit imports torch_xla already"}
    since = f"{parents[0]}..{head}"
    named = {commit for commit, _, _ in _log(directory, since, "-i", "-G", _NAMED)}
    port, last = [first[0]], first[1]
    for commit, time, title in _log(directory, since):
        if commit == first[0] or time < first[1] or not (commit in named or XLA.search(title)):
            continue
        if time - last > GAP or time - first[1] > LONGEST:
            break
        if XLA.search(title) or _share(directory, commit) >= SHARE:
            port.append(commit)
            last = time
    return {"before": parents[0], "after": port[-1], "commits": port}


def _log(directory: Path, revisions: str, *options: str) -> list[tuple[str, int, str]]:
    form = "--format=%H%x09%ct%x09%s"
    text = git(
        directory, "log", "--reverse", "--date-order", "--no-merges", form, *options, revisions, "--", "*.py"
    )
    rows = [line.split("\t", 2) for line in text.splitlines()]
    return sorted(((commit, int(time), title) for commit, time, title in rows), key=lambda row: row[1])


def _share(directory: Path, commit: str) -> float:
    text = git(directory, "show", "-w", "-U0", "--format=", "--no-color", "-M", commit, "--", "*.py")
    lines = [line for line in text.split("\n") if re.match(r"[+-](?![+-]{2}).*\S", line)]
    return sum(bool(XLA.search(line)) for line in lines) / max(len(lines), 1)


def count_port(mirror: Path, port: dict[str, Any]) -> dict[str, Any]:
    """Lines deleted and added that count, those of them in new files, and the files that were there."""
    directory, upstream = directory_of(mirror, port), "upstream" in port
    if directory is None:
        raise SystemExit(f"no copy of {port['repo']}")
    before, after, commits = port["before"], port["after"], set(port["commits"])
    between = git(directory, "log", "--no-merges", "--format=%H", f"{before}..{after}", "--", "*.py").split()
    whole = upstream or len(between) <= len(commits)
    seen: list[tuple[Change, str, Mine]] = []
    for change in changes(directory, before, after):
        if change.new is None or SIDES.search(change.new) or not change.new.endswith(".py"):
            continue
        text = _show(directory, after, change.new)
        if "torch" in text or re.search("xla|tpu", text, re.IGNORECASE):
            wrote = None if upstream else authors(directory, before, after, change.new)
            old = _show(directory, before, change.old) if change.old else ""
            seen.append((change, old, _mine(wrote, commits, whole)))
    mine = {id(change): is_mine for change, _, is_mine in seen}
    names = introduced(
        [one for one, _, _ in seen], "\n".join(old for _, old, _ in seen), lambda one: mine[id(one)]
    )
    found: dict[str, Any] = {"deleted": 0, "added": 0, "new": 0, "files": []}
    files: set[str] = set()
    for change, old, is_mine in seen:
        lines = old.count("\n")
        deleted, added = count(change, lines, is_mine, names)
        found["deleted"] += deleted
        found["added"] += added
        found["new"] += added if is_new(change, lines) else 0
        if change.old and deleted + added:
            files.add(change.old)
    return found | {"files": sorted(files)}


def _mine(wrote: dict[int, str] | None, commits: set[str], whole: bool) -> Mine:
    if wrote is None:
        return lambda number: True
    return lambda number: whole if number is None else wrote.get(number) in commits


def _show(directory: Path, commit: str, name: str) -> str:
    command = ["git", "-c", "safe.directory=*", f"--git-dir={directory}", "show", f"{commit}:{name}"]
    return subprocess.run(command, capture_output=True, text=True, errors="replace").stdout


def is_complete(directory: Path, port: dict[str, Any]) -> bool:
    """Return whether the files that the port changed, as they are after it, run on XLA by themselves."""
    names = [change.new for change in changes(directory, port["before"], port["after"])]
    kept = [name for name in names if name and name.endswith(".py") and not SIDES.search(name)]
    text = "\n".join(_show(directory, port["after"], name) for name in kept)
    return bool(DEVICE.search(text) and (STEP.search(text) or LAUNCH.search(text)))


def why_not(directory: Path, port: dict[str, Any]) -> str | None:
    """Why a port is not one of existing GPU code, if it is not."""
    named = ["git", "-c", "safe.directory=*", f"--git-dir={directory}", "grep", "-qIE"]
    cuda, xla = (
        not subprocess.run([*named, word, port["before"], "--", *names], capture_output=True).returncode
        for word, names in (("cuda", ("*.py",)), ("torch_xla", port["files"] or ("*.py",)))
    )
    diff = git(directory, "diff", "-U0", "-w", port["before"], port["after"], "--", "*.py")
    named_lines = sum(line[:1] == "+" and bool(XLA.search(line)) for line in diff.split("\n"))
    ported = port["deleted"] + port["added"] - port["new"]
    reasons = (
        (xla, "its files name torch_xla before"),
        (not cuda, "no CUDA before"),
        (ported < 5, "fewer than 5 lines in code that was there"),
        (port["new"] > ported, "mostly new files"),
        (named_lines < 3, "names XLA in fewer than 3 lines"),
    )
    return next((reason for holds, reason in reasons if holds), None)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--head", default="HEAD", help="a branch or pull request instead")
    parser.add_argument("--start", default="", help="the commit that begins a later stretch")
    parser.add_argument("repos", nargs="+")
    args = parser.parse_args(words)
    for repo in args.repos:
        directory = git_directory(args.mirror, repo)
        port: dict[str, Any] = {"repo": repo} | (
            find(directory, args.head, args.start) if directory else {"why": "no copy"}
        )
        if directory and "why" not in port:
            port |= count_port(args.mirror, port)
            port["why"] = why_not(directory, port)
            port["complete"] = is_complete(directory, port)
        print(json.dumps(port), flush=True)


if __name__ == "__main__":
    main()
