#!/usr/bin/env bash
# Builds pol and runs its tests: test.sh [argument of ctest]...
# For example: test.sh -L lit, test.sh -R Arena -V. POL_PRESET chooses another
# preset than release. Fails when a test does, or when no test ran.
set -euo pipefail

scripts="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"
preset="${POL_PRESET:-release}"

# Public placement instances beside the tree, for the tests of pol-plan.
data="$scripts/../../shared/data"
if [[ -z "${POL_PLAN_DATA:-}" && -d "$data" ]]; then
  POL_PLAN_DATA="$(cd -- "$data" && pwd)"
  export POL_PLAN_DATA
fi

"$scripts/build.sh" "$preset"

cd "$scripts/.."
# As many at a time as there are processors; those that take several say so. At
# its end ctest prints the tests of each label with their time.
ctest --preset "$preset" --parallel "${CTEST_PARALLEL_LEVEL:-$(nproc)}" \
  --output-on-failure --no-tests=error "$@"
