#!/usr/bin/env bash
# Checks the form of the tree: clang-format on C and C++, no tabs, no trailing
# whitespace, no source file of more than 700 lines. check-format.sh --fix has
# clang-format rewrite the files first.
#
# Exits with 1 when something is wrong, and with 77 when all else is well but
# there is no clang-format of the pinned version to check with.
set -euo pipefail
export LC_ALL=C.UTF-8

max_lines=700

usage() {
  echo "usage: check-format.sh [--fix]" >&2
  exit 2
}

fix=
case "${1:-}" in
'') ;;
--fix) fix=1 ;;
*) usage ;;
esac
(($# <= 1)) || usage

cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."
read -r llvm_version <cmake/LLVMVersion.txt
llvm_major="${llvm_version%%.*}"
failed=0

# Prints the files of the tree, each ended by a NUL: those that git has or could
# add, or in a copy that is no git work tree those outside the build folders.
list_files() {
  if [[ -e .git ]] && git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files -z --cached --others --exclude-standard
  else
    find . \( -path './build*' -o -path ./.git -o -name .cache -o \
      -name __pycache__ \) -prune -o -type f -printf '%P\0'
  fi
}

complain() {
  failed=1
  printf 'check-format: %s\n' "$@" >&2
}

# Prints the path of a clang-format of the pinned version, beside the MLIR in
# use or on the PATH.
find_clang_format() {
  local candidate
  for candidate in "clang-format-$llvm_major" \
    ${MLIR_DIR:+"$MLIR_DIR/../../../bin/clang-format"} clang-format; do
    if command -v "$candidate" >/dev/null &&
      "$candidate" --version | grep -q "version $llvm_major\\."; then
      command -v "$candidate"
      return
    fi
  done
  return 1
}

check_clang_format() {
  local clang_format="$1"
  shift
  if [[ -n "$fix" ]]; then
    "$clang_format" -i --style=file -- "$@"
  fi
  "$clang_format" --dry-run -Werror --style=file -- "$@" ||
    complain "clang-format would change something: scripts/check-format.sh --fix does it"
}

check_whitespace() {
  local found
  # -I leaves out binary files.
  found="$(grep -nIP -- '\t|\s$' "$@" /dev/null || true)"
  if [[ -n "$found" ]]; then
    printf '%s\n' "$found" >&2
    complain "tabs or trailing whitespace in the lines above"
  fi
}

check_length() {
  local file lines
  for file in "$@"; do
    lines="$(wc -l <"$file")"
    if ((lines > max_lines)); then
      complain "$file has $lines lines, more than $max_lines"
    fi
  done
}

files=() sources=() formatted=()
while IFS= read -r -d '' file; do
  # git also lists files that were deleted and not yet committed as such.
  [[ -f "$file" && ! -L "$file" ]] || continue
  files+=("$file")
  case "$file" in
  *.h | *.cpp | *.c) formatted+=("$file") sources+=("$file") ;;
  *.td | *.mlir | *.py | *.sh | *.cmake | */CMakeLists.txt) sources+=("$file") ;;
  CMakeLists.txt) sources+=("$file") ;;
  esac
done < <(list_files)

((${#files[@]})) || {
  complain "found no file to check"
  exit 1
}

skipped=0
if ((${#formatted[@]})); then
  if clang_format="$(find_clang_format)"; then
    check_clang_format "$clang_format" "${formatted[@]}"
  else
    skipped=1
    echo "check-format: no clang-format $llvm_major: C and C++ are not checked" >&2
  fi
fi
check_whitespace "${files[@]}"
check_length "${sources[@]}"

if ((failed)); then
  exit 1
fi
echo "check-format: ${#files[@]} files checked, ${#formatted[@]} of them C and C++"
((skipped == 0)) || exit 77
