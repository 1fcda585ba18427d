//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::pol;

static const char *const units[] = {"B",   "KiB", "MiB", "GiB",
                                    "TiB", "PiB", "EiB"};

/// The largest unit of which there is at least one.
static unsigned getUnit(int64_t bytes) {
  unsigned unit = 0;
  while (bytes >= 1024) {
    bytes >>= 10;
    ++unit;
  }
  return unit;
}

static std::string formatIn(unsigned unit, int64_t bytes, unsigned decimals) {
  double value = static_cast<double>(bytes) / (int64_t(1) << (10 * unit));
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format("%.*f ", static_cast<int>(decimals), value)
      << units[unit];
  return text;
}

std::string mlir::pol::formatBytes(int64_t bytes) {
  unsigned unit = getUnit(bytes);
  int64_t scale = int64_t(1) << (10 * unit);
  if (bytes % scale == 0)
    return formatIn(unit, bytes, 0);
  double value = static_cast<double>(bytes) / scale;
  // 1023.9 KiB is not to become 1024 KiB.
  if (value >= 999.5)
    return formatIn(unit, bytes, 1);
  unsigned decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  // 1.50 is 1.5, and so exactly.
  if (decimals == 2 && bytes % (scale / 2) == 0)
    decimals = 1;
  return formatIn(unit, bytes, decimals);
}

std::vector<Tick> mlir::pol::getByteTicks(int64_t most, unsigned atMost) {
  int64_t step = 1;
  while (most / step > atMost)
    step *= 2;
  unsigned unit = getUnit(most);
  unsigned decimals = 0;
  for (int64_t part = step; part % (int64_t(1) << (10 * unit)); part *= 2)
    ++decimals;
  std::vector<Tick> ticks = {{0, "0"}};
  for (int64_t value = 0; value <= most - step;) {
    value += step;
    ticks.push_back({value, formatIn(unit, value, decimals)});
  }
  return ticks;
}

std::vector<Tick> mlir::pol::getStepTicks(int64_t first, int64_t last,
                                          unsigned atMost) {
  uint64_t range = static_cast<uint64_t>(last) - first;
  uint64_t step = 1;
  // 1, 2, 5, 10, 20, 50, ...
  for (unsigned i = 0; range / step > atMost; ++i)
    step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  std::vector<Tick> ticks;
  uint64_t value = first + (step - first % step) % step;
  for (; value <= static_cast<uint64_t>(last); value += step)
    ticks.push_back({static_cast<int64_t>(value), std::to_string(value)});
  return ticks;
}
