//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sums over rows, one for each column, in vectors of columns.

#ifndef POL_LIB_CONVERSION_POLTOVECTOR_COLUMNSUMS_H
#define POL_LIB_CONVERSION_POLTOVECTOR_COLUMNSUMS_H

#include "Rows.h"

namespace mlir::pol {

/// Sums over all rows, in two stages: over blocks of rows into partial sums, on
/// many threads, and over these. How rows are split depends on their number and
/// on that of the partial sums alone.
///
/// Blocks of up to 64 rows have one row of partial sums each. Where there are
/// more rows than those blocks hold, two rows of partial sums belong to one
/// block: the sums, and what their roundings have lost.
class ColumnSums {
public:
  /// The partial sums, of a row per block, and where the sums go.
  struct Output {
    Value partials;
    Value sums;
  };

  ColumnSums(OpBuilder &builder, Location loc, Rows &rows,
             ArrayRef<Output> outputs);

  /// Walks through the rows of a block, and calls `add`.
  using BlockFn = function_ref<void(OpBuilder &, ColumnSums &, IndexRange)>;
  void build(OpBuilder &builder, BlockFn body);

  /// Adds the sums of some rows to those of their block, for one vector of
  /// columns: one addend for each output.
  void add(VectorBuilder &v, ArrayRef<Value> addends, Value column, Value mask);

  /// Prefetches the sums of a block into the first-level cache.
  void prefetch(VectorBuilder &v, Value column);

private:
  void clear(OpBuilder &builder);
  void addTo(VectorBuilder &v, Value partials, Value addend, Value column,
             Value mask);
  void buildTotals(OpBuilder &builder);
  void buildTotal(VectorBuilder &v, const Output &output, Value column,
                  Value mask);

  Value constant(OpBuilder &builder, int64_t value);

  Location loc;
  Rows &rows;
  SmallVector<Output> outputs;
  Value isPaired;
  /// Rows of partial sums of a block, and of all.
  Value partialsPerBlock;
  Value numPartials;
  Value numBlocks;
  /// The first row of partial sums of the block that is being built.
  Value first;
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOVECTOR_COLUMNSUMS_H
