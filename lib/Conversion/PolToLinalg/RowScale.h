//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Powers of two that keep the squares of a row's elements in range.

#ifndef POL_LIB_CONVERSION_POLTOLINALG_ROWSCALE_H
#define POL_LIB_CONVERSION_POLTOLINALG_ROWSCALE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::pol {

/// Rows whose largest magnitude is beyond 2^threshold have the scale
/// s = 2^(element + root).
struct ScaleRule {
  enum Side { Above, Below } side;
  int threshold;
  /// The result is (x · 2^element) · (r · 2^root): s is split so that neither
  /// product leaves the range of normal numbers where the result is in it. The
  /// root itself may: 1/√(mean(x²)) is subnormal for the largest rows.
  int element;
  int root;
};

/// The scales of one row: null where no row is scaled.
struct RowScales {
  Value element;
  Value root;
};

/// Of the rules that apply to a row, the last one counts.
SmallVector<ScaleRule> getScaleRules(Type elementType, double eps);

/// Chooses between rules by the largest magnitude of a row. NaN is beyond no
/// threshold, infinity beyond the upper one; both stay what they are when
/// scaled.
RowScales buildRowScales(OpBuilder &builder, Location loc,
                         ArrayRef<ScaleRule> rules, Value maximum);

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOLINALG_ROWSCALE_H
