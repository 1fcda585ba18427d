#!/usr/bin/env bash
# Installs what pol is built and tested with from Debian's packages: only what
# is missing, and nothing runs when nothing is. Run it, or source it from
# another script: it then sets POL_ROOT, POL_LLVM_VERSION and POL_LLVM_MAJOR.
#
# With MLIR_DIR in the environment (the folder of MLIRConfig.cmake in an LLVM
# and MLIR of the pinned version) no LLVM package is installed.
set -euo pipefail

POL_ROOT="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)"
read -r POL_LLVM_VERSION <"$POL_ROOT/cmake/LLVMVersion.txt"
# shellcheck disable=SC2034 # for the scripts that source this one
POL_LLVM_MAJOR="${POL_LLVM_VERSION%%.*}"

pol_fail() {
  printf '%s\n' "$@" >&2
  exit 1
}

# Prints the names of the packages that pol needs, one a line.
pol_packages() {
  local v="$POL_LLVM_MAJOR"
  # python3-numpy is for the Python tests and examples, valgrind for the tests
  # that count what is left in memory.
  printf '%s\n' cmake ninja-build ccache libgtest-dev python3 python3-numpy \
    valgrind
  if [[ -n "${MLIR_DIR:-}" ]]; then
    return
  fi
  # llvm-N-tools has FileCheck and lit.
  printf '%s\n' "libmlir-$v-dev" "mlir-$v-tools" "llvm-$v-dev" \
    "llvm-$v-tools" "clang-$v" "clang-format-$v" "lld-$v" "libomp-$v-dev" \
    "libclang-rt-$v-dev"
}

# Prints those of its arguments that are not installed, one a line.
pol_missing() {
  # dpkg-query fails when it knows nothing of some package: that is an answer.
  {
    dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true
  } | awk -v wanted="$*" '
    $2 == "installed" { have[$1] = 1 }
    END {
      n = split(wanted, names, " ")
      for (i = 1; i <= n; i++)
        if (!(names[i] in have)) print names[i]
    }'
}

# Runs a command as root.
pol_as_root() {
  if [[ "$(id -u)" -eq 0 ]]; then
    "$@"
  elif [[ -t 0 ]]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

pol_apt_get() {
  pol_as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
    -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}

# Installs its arguments; `log` is a file for what apt says.
pol_install() {
  local log="$1" package
  local -a unknown=()
  shift
  # An update fails too when only a source that has nothing to do with pol does:
  # what counts is whether the packages are known after it.
  pol_apt_get update >"$log" 2>&1 || true
  for package in "$@"; do
    apt-cache show --no-all-versions "$package" >/dev/null 2>&1 ||
      unknown+=("$package")
  done
  if ((${#unknown[@]})); then
    tail -n 15 "$log" >&2
    pol_fail "setup: apt knows no package of these names: ${unknown[*]}" \
      "setup: is there a network, and do the apt sources have LLVM $POL_LLVM_MAJOR? Debian's own" \
      "setup: stable and security suites are enough. Or set MLIR_DIR to the folder of" \
      "setup: MLIRConfig.cmake in an LLVM/MLIR $POL_LLVM_VERSION, and no LLVM package is needed."
  fi
  if ! pol_apt_get install --no-install-recommends "$@" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    pol_fail "setup: apt-get could not install: $*"
  fi
}

pol_setup() {
  local log
  local -a packages missing
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    mapfile -t packages < <(pol_packages)
    [[ -n "${MLIR_DIR:-}" ]] ||
      pol_fail "setup: there is no apt-get here, and MLIR_DIR is not set. Install what corresponds" \
        "setup: to these packages of Debian, and set MLIR_DIR to the folder of MLIRConfig.cmake:" \
        "setup: ${packages[*]}"
    echo "setup: there is no apt-get here: nothing is checked or installed" >&2
    return
  fi

  mapfile -t packages < <(pol_packages)
  mapfile -t missing < <(pol_missing "${packages[@]}")
  if ((${#missing[@]} == 0)); then
    return
  fi
  if [[ "$(id -u)" -ne 0 ]] && ! command -v sudo >/dev/null; then
    pol_fail "setup: missing packages: ${missing[*]}" \
      "setup: not root, and there is no sudo: as root, run" \
      "  apt-get update && apt-get install --no-install-recommends ${missing[*]}"
  fi

  echo "setup: installing ${missing[*]}"
  log="$(mktemp)"
  # shellcheck disable=SC2064 # the name of now
  trap "rm -f -- '$log'" EXIT
  pol_install "$log" "${missing[@]}"
  rm -f -- "$log"
  trap - EXIT

  mapfile -t missing < <(pol_missing "${packages[@]}")
  ((${#missing[@]} == 0)) ||
    pol_fail "setup: still missing after the install: ${missing[*]}"
}

pol_setup
if [[ "${BASH_SOURCE[0]}" == "$0" ]] && command -v dpkg-query >/dev/null; then
  echo "setup: all that pol needs is installed"
fi
