#!/usr/bin/env bash
# Comments the plan on the pull request; a comment of an earlier run is replaced.
set -euo pipefail

mapfile -t paths < <(printf '%s\n' "$XLAMIG_PATHS" | sed '/^[[:space:]]*$/d')
plan=$RUNNER_TEMP/xlamig-plan.md
xlamig plan --quiet --output-format markdown --output-file "$plan" -- "${paths[@]}" || true
if [ ! -s "$plan" ]; then
  echo "::warning::xlamig could not make a plan"
  exit 0
fi
# GitHub takes 65536 characters.
python3 - "$plan" <<'PYTHON'
import sys
from pathlib import Path

path = Path(sys.argv[1])
text = path.read_text(encoding="utf-8")
if len(text) > 60_000:
    text = text[:60_000].rpartition("\n")[0] + "\n\n*The rest is too long for a comment: run `xlamig plan`.*\n"
path.write_text(text, encoding="utf-8")
PYTHON
gh pr comment "$PULL_REQUEST" --body-file "$plan" --edit-last --create-if-none
