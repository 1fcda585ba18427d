//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sums over the rows of an array: one for each column.

#ifndef POL_LIB_CONVERSION_POLTOLINALG_ROWSUMS_H
#define POL_LIB_CONVERSION_POLTOLINALG_ROWSUMS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::pol {

/// Builds the addend of one row, given its leading indices, and column.
using AddendFn = function_ref<Value(OpBuilder &, ValueRange row, Value column)>;

/// Sums over all leading dimensions of `array` into `sums`, of rank 1. Blocks
/// of rows are summed into a row of `partials` each, and those are summed, both
/// in blocks of `sumBlock`: what is added when depends on the number of rows
/// alone (see `kMaxRowBlocks`).
void buildRowSums(OpBuilder &builder, Location loc, Value array,
                  int64_t sumBlock, FloatType type, Value partials, Value sums,
                  AddendFn addend);

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOLINALG_ROWSUMS_H
