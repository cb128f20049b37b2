#!/usr/bin/env bash
# Installs xlamig into an environment of its own and puts it on the path of the later steps.
set -euo pipefail

case "$XLAMIG_VERSION" in
  "") package=xlamig ;;
  local) package=$GITHUB_ACTION_PATH ;;
  *) package="xlamig==$XLAMIG_VERSION" ;;
esac
environment=$RUNNER_TEMP/xlamig
python3 -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "$package"
echo "$environment/bin" >> "$GITHUB_PATH"
"$environment/bin/xlamig" --version
