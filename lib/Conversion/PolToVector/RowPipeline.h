//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Kernels that sum over a row and then write it, one row in the shadow of the
// other.

#ifndef POL_LIB_CONVERSION_POLTOVECTOR_ROWPIPELINE_H
#define POL_LIB_CONVERSION_POLTOVECTOR_ROWPIPELINE_H

#include "Rows.h"

namespace mlir::pol {

/// Where results go past the caches, a row is written while the next one is
/// summed: memory is read and written all the time, whatever else there is to
/// compute.
class RowPipeline {
public:
  virtual ~RowPipeline() = default;

protected:
  /// x, y: what is read and written, of one shape.
  RowPipeline(OpBuilder &builder, Location loc, TargetAttr target, Value x,
              Value y)
      : loc(loc), rows(builder, loc, x, target), target(target), x(x), y(y) {}

  /// Builds a loop over all rows. cachedRows: how many the first-level cache
  /// must hold for the passes over one row to be as fast one after the other,
  /// as they read nothing else then; null if they never are.
  void buildRows(OpBuilder &builder, std::optional<int64_t> cachedRows);

  /// Builds what is once for the rows of a trip.
  virtual void begin(OpBuilder &builder) {}
  /// Builds a row by itself: where it is not written past the caches.
  virtual void buildRow(OpBuilder &builder, ValueRange at) = 0;

  /// What is found of a row before it is summed.
  virtual SmallVector<Value> prepare(OpBuilder &builder, Value row) = 0;
  /// How many sums there are, and what one vector adds to them.
  virtual unsigned getNumSums() const = 0;
  virtual void add(VectorBuilder &v, Value row, ValueRange prepared,
                   Value index, Value mask, MutableArrayRef<Value> sums) = 0;
  /// What a row is written with, numbers, and whether that is all it takes: if
  /// not, it has been written already.
  struct Factors {
    SmallVector<Value> values;
    Value isPlain;
  };
  virtual Factors finish(OpBuilder &builder, ValueRange at, Value row,
                         ValueRange prepared, ValueRange sums) = 0;
  /// One vector of the result, of factors as vectors.
  virtual Value getResult(VectorBuilder &v, Value row, ValueRange factors,
                          Value index, Value mask) = 0;

  Location loc;
  Rows rows;

private:
  Value isPipelined(OpBuilder &builder, std::optional<int64_t> cachedRows);
  void buildTrips(OpBuilder &builder);
  void buildTrip(OpBuilder &builder, IndexRange range);
  Factors
  sumRow(OpBuilder &builder, ValueRange at, Value row,
         function_ref<void(VectorBuilder &, Value index, Value mask)> beside);
  Value areAligned(OpBuilder &builder, IndexRange range);
  Value getRowOf(OpBuilder &builder, Value array, ValueRange at) {
    return getRow(builder, loc, array, at, rows.getLength());
  }

  TargetAttr target;
  Value x, y;
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOVECTOR_ROWPIPELINE_H
