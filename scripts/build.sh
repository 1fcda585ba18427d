#!/usr/bin/env bash
# Configures and builds pol: build.sh [preset [target...]]
# The presets (release, debug, sanitize) are those of CMakePresets.json; without
# an argument it is $POL_PRESET, or release, whose tools are in build/bin.
set -euo pipefail

# shellcheck source=scripts/setup.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/setup.sh"

preset="${1:-${POL_PRESET:-release}}"
shift || true
targets=()
if (($# > 0)); then
  targets=(--target "$@")
fi
cd "$POL_ROOT"

# An MLIR_DIR of the environment goes over one that an earlier run left in the
# cache.
configure=(cmake --preset "$preset")
if [[ -n "${MLIR_DIR:-}" ]]; then
  configure+=("-DMLIR_DIR=$MLIR_DIR")
fi
if [[ -n "${POL_PLAN_DATA:-}" ]]; then
  configure+=("-DPOL_PLAN_DATA=$POL_PLAN_DATA")
fi

echo "build: configuring ($preset)"
"${configure[@]}" --log-level=WARNING
echo "build: building ($preset)"
cmake --build --preset "$preset" "${targets[@]}"
