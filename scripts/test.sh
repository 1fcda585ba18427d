#!/usr/bin/env bash
# Builds pol and runs its tests: test.sh [argument of ctest]...
# For example: test.sh -L lit, test.sh -R Arena -V. POL_PRESET chooses another
# preset than release. Fails when a test does, or when no test ran.
set -euo pipefail

scripts="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
preset="${POL_PRESET:-release}"

"$scripts/build.sh" "$preset"

cd "$scripts/.."
# At its end ctest prints the tests of each label with their time.
ctest --preset "$preset" --output-on-failure --no-tests=error "$@"
