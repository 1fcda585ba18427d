//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The least and greatest of what a mask may load of an array.

#ifndef POL_LIB_ANALYSIS_MASK_LOADS_H
#define POL_LIB_ANALYSIS_MASK_LOADS_H

#include "Numbers.h"

namespace mlir::pol::mask {

/// An integer as an index: of its sign, an i1 as 0 or 1.
Value castToIndex(OpBuilder &builder, Location loc, Value value);

/// What loads of an array of integers may give, `full` at most. Indices that
/// vary are clipped to the array. Where more than one of them has more than one
/// value, nothing is known: what is loaded is a row of a tile's length.
Interval emitLoads(Numbers &numbers, Value array, ArrayRef<Interval> indices,
                   ArrayRef<bool> varies, Interval full);

} // namespace mlir::pol::mask

#endif // POL_LIB_ANALYSIS_MASK_LOADS_H
