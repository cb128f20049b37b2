#!/usr/bin/env bash
# Writes annotations to the log and SARIF to a file. The exit code is an output, so that later steps run.
set -euo pipefail

mapfile -t paths < <(printf '%s\n' "$XLAMIG_PATHS" | sed '/^[[:space:]]*$/d')
mapfile -t arguments < <(printf '%s\n' "$XLAMIG_ARGUMENTS" | sed '/^[[:space:]]*$/d')
base=$XLAMIG_DIFF_BASE
if [ "$base" = auto ]; then base=${PULL_REQUEST_BASE:-}; fi
if [ -n "$base" ]; then
  # A shallow checkout does not have the base.
  git cat-file -e "$base^{commit}" 2>/dev/null || git fetch --quiet --depth=1 origin "$base"
  arguments+=(--diff-base "$base")
fi
if [ "$XLAMIG_FAIL_ON" = never ]; then arguments+=(--exit-zero); else arguments+=(--fail-on "$XLAMIG_FAIL_ON"); fi

sarif=$RUNNER_TEMP/xlamig.sarif
code=0
xlamig check --quiet "${arguments[@]}" --output-format sarif --output-file "$sarif" -- "${paths[@]}" || code=$?
if [ -f "$sarif" ]; then
  xlamig check "${arguments[@]}" --output-format github -- "${paths[@]}" || true  # from the cache
  findings=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["runs"][0]["results"]))' "$sarif")
else
  findings=0
fi
{
  echo "exit-code=$code"
  echo "findings=$findings"
  echo "sarif-file=$sarif"
} >> "$GITHUB_OUTPUT"
