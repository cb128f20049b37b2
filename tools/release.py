"""Checks that a version can be released, and gives what the changelog says of it.

python tools/release.py check 0.1.0
python tools/release.py notes 0.1.0
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
_SECTION = re.compile(
    r"^## \[?(?P<version>[\w.]+)\]?(?P<rest>.*)\n(?P<body>(?:(?!^## ).*\n?)*)", re.MULTILINE
)


def package_version() -> str:
    """The one place of the version: `__version__` of the package, which the wheel reads too."""
    text = (ROOT / "src/xlamig/__init__.py").read_text("utf-8")
    found = re.search(r'__version__ = "([^"]+)"', text)
    assert found is not None
    return found[1]


def problems(version: str, changelog: str) -> list[str]:
    """Return the reasons against releasing this version."""
    found = []
    if package_version() != version:
        found.append(f"the package has the version {package_version()}, the tag says {version}")
    manifest = json.loads((ROOT / "editors/vscode/package.json").read_text("utf-8"))
    if manifest["version"] != package_version():
        found.append(f"editors/vscode/package.json has the version {manifest['version']}")
    section = section_of(version, changelog)
    if section is None:
        found.append(f"CHANGELOG.md has no section for {version}")
    elif "unreleased" in section["rest"].lower():
        found.append(f"CHANGELOG.md calls {version} unreleased: write the date there")
    return found


def section_of(version: str, changelog: str) -> re.Match[str] | None:
    return next((match for match in _SECTION.finditer(changelog) if match["version"] == version), None)


def main(task: str, version: str) -> int:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    if task == "notes":
        section = section_of(version, changelog)
        print(section["body"].strip() if section else "")
        return 0 if section else 1
    found = problems(version, changelog)
    print("\n".join(found) or f"{version} can be released")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
