//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Random numbers that are the same everywhere.

#ifndef POL_LIB_ANALYSIS_PLACEMENT_RANDOM_H
#define POL_LIB_ANALYSIS_PLACEMENT_RANDOM_H

#include <cstdint>

namespace mlir::pol::placement {

/// SplitMix64.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    state += 0x9e3779b97f4a7c15;
    uint64_t mixed = state;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }
  /// In [0, bound).
  uint64_t below(uint64_t bound) { return next() % bound; }
  /// In [0, 1).
  double uniform() { return (next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

} // namespace mlir::pol::placement

#endif // POL_LIB_ANALYSIS_PLACEMENT_RANDOM_H
