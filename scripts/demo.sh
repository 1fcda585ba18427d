#!/usr/bin/env bash
# Builds pol and shows what it does.
set -euo pipefail

scripts="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)"

# The demonstration shows the tools of build/, those of the release preset.
"$scripts/build.sh" release pol-opt pol-run

cd "$scripts/.."
bin="$PWD/build/bin"

# ---- The demonstration ------------------------------------------------------

results="$(mktemp -d)"
trap 'rm -rf -- "$results"' EXIT

x=examples/data/activations.npy
w=examples/data/w.npy
failed=0

# The distribution's Python is the one that setup.sh gives NumPy to.
python=/usr/bin/python3
[[ -x "$python" ]] || python=python3

if [[ -t 1 ]]; then
  bold=$'\e[1m' plain=$'\e[0m'
else
  bold='' plain=''
fi

say() {
  printf '\n%s%s%s\n' "$bold" "$1" "$plain"
  shift
  (($# == 0)) || printf '%s\n' "$@"
}

# Prints a command as one would type it, without the results' folder, and runs
# it; all is indented.
show() {
  local tool="$1" line="\$ $1" word previous=
  shift
  for word in "$@"; do
    # An option and its value stay on one line.
    if [[ "$previous" == --* && "$word" != --* ]]; then
      line+="~$word"
    else
      line+=" $word"
    fi
    previous="$word"
  done
  printf '\n'
  fold -s -w 90 <<<"${line//"$results/"/}" | tr '~' ' ' |
    sed -e '1!s/^/    /' -e '$!s/$/\\/' -e 's/^/  /'
  # The exit status is the tool's, by pipefail.
  "$bin/$tool" "$@" 2>&1 | sed 's/^/  /'
}

# check SPACE ARGUMENT...
check() {
  local space
  printf -v space '%-5s' "$1"
  shift
  "$python" examples/check.py "$@" | sed "s/^/  $space  /" || failed=1
}

# Prints the lines of a file from one that matches to the next that is empty or
# closes what it opens.
excerpt() {
  sed -n "/$2/,/^ *}\$\|^\$/p" "$1" | sed 's/^/  /'
}

say "A kernel describes the buffers it needs, and the caller decides where they are." \
  "examples/softmax.mlir has an ordinary function, @softmax(x, y, max, sum), and as data" \
  "beside it what its last three arguments are:" ""
excerpt examples/softmax.mlir '^pol.description for @softmax'

say "One op asks for all of it and calls the function:" ""
excerpt examples/softmax.mlir '%y = pol.apply @softmax' | head -n 2

say "When it is compiled that becomes: the output from the arena, scratch from a frame on it." ""
"$bin/pol-opt" --pol-describe-stage examples/softmax.mlir >"$results/described.mlir"
sed -n '/@softmax_applied/,/^  }/p' "$results/described.mlir"

say "It runs on 256 rows of 64 activations. First every buffer is the heap's. The report" \
  "lists them; lifetimes are counted in allocations and releases."
show pol-run examples/softmax.mlir --entry softmax_applied --input "$x" \
  --output "$results/softmax-heap.npy" --memory-report

say "Then all are in one arena of the caller's: scratch is on top, and goes with the frame."
show pol-run examples/softmax.mlir --entry softmax_applied --input "$x" \
  --output "$results/softmax-arena.npy" --space arena:66K --memory-report

say "RMS normalization is an op. Its checkpoint, rstd, is for a backward pass to read." \
  "On the heap, and in an arena that is exactly large enough:"
show pol-run examples/rms_norm.mlir --entry rms_norm_applied --input "$x" \
  --input "$w" --output "$results/rms-heap.npy" \
  --output "$results/rstd-heap.npy"
show pol-run examples/rms_norm.mlir --entry rms_norm_applied --input "$x" \
  --input "$w" --output "$results/rms-arena.npy" \
  --output "$results/rstd-arena.npy" --space arena:65K --memory-report

say "Are the results right? Compared with plain float64 formulas:" ""
for space in heap arena; do
  check "$space" softmax "$x" "$results/softmax-$space.npy"
  check "$space" rms_norm "$x" "$w" "$results/rms-$space.npy" \
    "$results/rstd-$space.npy"
done
for name in softmax rms rstd; do
  cmp -- "$results/$name-heap.npy" "$results/$name-arena.npy" || failed=1
done

say "An arena that is too small is an error that says what was wanted, and where:"
if show pol-run examples/softmax.mlir --entry softmax_applied --input "$x" \
  --output "$results/none.npy" --space arena:64K; then
  echo "  That should have failed."
  failed=1
elif [[ -e "$results/none.npy" ]]; then
  echo "  Nothing should have been written."
  failed=1
fi

if ((failed)); then
  say "FAIL: something above is not as it should be."
  exit 1
fi
say "PASS: results agree with float64, and heap and arena gave the same bits."
