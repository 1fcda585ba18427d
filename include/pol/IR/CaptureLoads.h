//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How score regions read what they capture: whether the positions that read an
// element follow from where it is.

#ifndef POL_IR_CAPTURELOADS_H
#define POL_IR_CAPTURELOADS_H

#include "mlir/IR/Region.h"
#include <array>
#include <optional>

namespace mlir::pol {

/// The arguments of a score region: the score, four axes, and captures.
inline constexpr unsigned kNumScoreAxes = 4;
inline constexpr unsigned kFirstScoreCapture = 1 + kNumScoreAxes;
enum ScoreAxis : unsigned { BatchAxis, HeadAxis, QueryAxis, KeyAxis };

/// How an element's place in a capture says which positions along an axis read
/// it.
struct AxisUse {
  /// Not at all: all along the axis do.
  bool isUsed = false;
  /// Elements are one for each position up to here, and the last one for all
  /// that are left; null: one for each position.
  Value cap;
};

/// A load each of whose indices is one axis at most, shifted by what is the
/// same at all positions, and each axis is in one index at most. Of batch and
/// head the index may also be the lesser of it and what is the same everywhere.
struct PlacedLoad {
  std::array<AxisUse, kNumScoreAxes> axes;

  /// None for a load that is not like that.
  static std::optional<PlacedLoad> get(Operation *load);
};

/// Whether any load of a capture, by its number, is no placed one: then its
/// gradient is added up position by position, in memory.
bool isScattered(Region &score, unsigned capture);

} // namespace mlir::pol

#endif // POL_IR_CAPTURELOADS_H
