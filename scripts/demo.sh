#!/usr/bin/env bash
# Builds pol and shows what it does.
set -euo pipefail

scripts="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"

# The demonstration shows the tools of build/, those of the release preset.
"$scripts/build.sh" release

cd "$scripts/.."
bin="$PWD/build/bin"

# ---- The demonstration ------------------------------------------------------

"$bin/pol-run" --help
