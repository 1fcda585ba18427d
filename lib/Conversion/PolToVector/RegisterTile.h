//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sums of products, held in registers.

#ifndef POL_LIB_CONVERSION_POLTOVECTOR_REGISTERTILE_H
#define POL_LIB_CONVERSION_POLTOVECTOR_REGISTERTILE_H

#include "Vectors.h"

namespace mlir::pol {

/// `rows` by `vectors` vectors of sums. In each step every row's number is
/// multiplied with every vector, so that one load is for many products.
struct RegisterTile {
  Location loc;
  VectorType type;
  int64_t rows, vectors;

  size_t getSize() const { return rows * vectors; }
  /// A row's number, in the type of the sums, and a vector, of a step.
  using NumberFn = function_ref<Value(OpBuilder &, Value step, int64_t row)>;
  using VectorFn = function_ref<Value(OpBuilder &, Value step, int64_t vector)>;
  /// The sums of the products of some steps, in order: one after the other.
  SmallVector<Value> sum(OpBuilder &builder, IndexRange steps, NumberFn number,
                         VectorFn vector) const;
  /// The same of however many, in blocks that are summed by themselves.
  SmallVector<Value> sumBlocks(OpBuilder &builder, IndexRange steps,
                               NumberFn number, VectorFn vector) const;

private:
  SmallVector<Value> sumBlocks(OpBuilder &builder, IndexRange steps,
                               ArrayRef<int64_t> blocks, NumberFn number,
                               VectorFn vector) const;
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOVECTOR_REGISTERTILE_H
