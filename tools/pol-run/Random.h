//===- Random.h - Numbers that are the same everywhere ----------*- C++ -*-===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A seed gives the same numbers on every platform, with every compiler and
// standard library. That rules out the distributions of <random> and also log,
// sin and cos, whose last bits differ between libraries. Here are only integer
// operations and correctly rounded floating-point ones; each product that is
// added to something is a std::fma, so that no compiler chooses for itself
// whether to fuse the two.
//
//===----------------------------------------------------------------------===//

#ifndef POL_TOOLS_POL_RUN_RANDOM_H
#define POL_TOOLS_POL_RUN_RANDOM_H

#include <cstdint>

namespace pol_run {

/// xoshiro256** (Blackman and Vigna), its state four outputs of SplitMix64
/// started at the seed.
class Random {
public:
  explicit Random(uint64_t seed);

  /// 64 uniform bits.
  uint64_t next();

  /// Uniform in [-1, 1), on the grid of 2^(1 - bits): the top `bits` of next()
  /// as a fraction. With a float type's precision for `bits` (1 to 53) the
  /// result needs no rounding, which would let 1 itself occur; and a narrow
  /// type gets the wide one's value rounded down.
  double uniform(unsigned bits);

  /// Standard normal, by Box and Muller's method on pairs of next(): the radius
  /// from the first, the angle from the second; the cosine comes out first, the
  /// sine at the next call.
  double normal();

private:
  uint64_t state[4];
  double spare = 0;
  bool hasSpare = false;
};

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_RANDOM_H
