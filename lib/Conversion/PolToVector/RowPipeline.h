//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Kernels that sum over rows and then write them, some rows in the shadow of
// others.

#ifndef POL_LIB_CONVERSION_POLTOVECTOR_ROWPIPELINE_H
#define POL_LIB_CONVERSION_POLTOVECTOR_ROWPIPELINE_H

#include "Rows.h"

namespace mlir::pol {

/// Where results go past the caches, groups of rows are written while the next
/// ones are summed, vector after vector of columns in all of them: memory is
/// read and written all the time, whatever else there is to compute, and what
/// rows share is loaded once for a group.
class RowPipeline {
public:
  virtual ~RowPipeline() = default;

protected:
  /// What is read and written, arrays of one shape. There may be nothing to
  /// write.
  RowPipeline(OpBuilder &builder, Location loc, TargetAttr target,
              ValueRange inputs, Value output)
      : loc(loc), rows(builder, loc, inputs.front(), target), target(target),
        inputs(inputs), output(output) {}

  /// A row of each array, its leading indices, and its place in its group.
  struct Row {
    SmallVector<Value> at;
    Value slot;
    SmallVector<Value> inputs;
    Value output;
  };
  Row getRow(OpBuilder &builder, ValueRange at, Value slot);

  /// Builds what is once for some rows.
  virtual void begin(OpBuilder &builder) {}

  /// How many numbers there are of each kind for a row.
  struct Counts {
    unsigned prepared, sums, factors;
  };
  virtual Counts getCounts() const = 0;
  /// What is found of a row before it is summed.
  virtual SmallVector<Value> prepare(OpBuilder &builder, const Row &row) {
    return {};
  }
  /// What one vector adds to the sums, given what was found before as vectors.
  virtual void add(VectorBuilder &v, const Row &row, ValueRange prepared,
                   Value index, Value mask, MutableArrayRef<Value> sums) = 0;
  /// What a row is written with, and whether that is all it takes: if not, it
  /// has been written already. Null: it always is.
  struct Factors {
    SmallVector<Value> values;
    Value isPlain;
  };
  virtual Factors finish(OpBuilder &builder, const Row &row,
                         ValueRange prepared, ValueRange sums) = 0;
  /// One vector of the result, of factors as vectors.
  virtual Value getResult(VectorBuilder &v, const Row &row, ValueRange factors,
                          Value index, Value mask) = 0;

  /// Where sums take so long that no load waits for a prefetch, it is they that
  /// prefetch the rows ahead.
  virtual bool areSumsLong() const { return false; }
  /// How many rows a group has: as many as hardware can follow, with all that
  /// is read and written.
  virtual int64_t getGroupRows() const;
  /// Prefetches what all rows share into the first-level cache.
  virtual void prefetchShared(VectorBuilder &v, Value index) {}

  /// Writes one vector of some rows.
  virtual void write(VectorBuilder &v, ArrayRef<Row> group,
                     ArrayRef<SmallVector<Value>> factors, Value index,
                     Value mask, StoreKind kind);

  /// Builds a loop over all rows.
  void buildRows(OpBuilder &builder);
  /// Rows that are visited side by side: so many from the first on.
  struct Group {
    Value first;
    int64_t count;
  };
  /// What is known of a group that has been summed: the factors of its rows,
  /// as vectors with an element for each row, which rows are plain, null if all
  /// rows always are, and whether all are.
  struct Summed {
    SmallVector<Value> factors;
    Value isPlain;
    Value arePlain;
  };
  /// Sums a group, row after row.
  Summed buildSums(OpBuilder &builder, Group group);
  /// Writes a group, vector after vector of columns, where the next one has not
  /// been summed yet.
  void buildWrites(OpBuilder &builder, Group group, ValueRange factors,
                   StoreKind kind, bool isNextAhead = true);
  /// The same by tiles of columns, in each of which it is row after row: what
  /// they share stays in the first-level cache.
  void buildTiledWrites(OpBuilder &builder, Group group, ValueRange factors,
                        StoreKind kind);
  /// Whether rows are written past the caches in groups: where results fill the
  /// last level, and rows are such that groups can do it.
  Value areGrouped(OpBuilder &builder);
  /// Does so with the rows of a range, where they are aligned and as far as
  /// whole groups go. Returns where that ends.
  Value buildGroups(OpBuilder &builder, IndexRange range, Value areGrouped);
  /// Whether groups of so many rows are better written by tiles: of rows that
  /// have several, and of which the second-level cache holds enough.
  Value areTiled(OpBuilder &builder, int64_t groupRows);
  /// Whether all rows of a range may be written past the caches.
  Value areAligned(OpBuilder &builder, IndexRange range);
  /// Where the last whole group of a range ends.
  Value getWholeEnd(OpBuilder &builder, IndexRange range, int64_t groupRows);

  Location loc;
  Rows rows;
  TargetAttr target;

private:
  /// Builds a row by itself.
  void buildRow(OpBuilder &builder, ValueRange at);

  /// The same as vectors with an element for each row of a group: what is found
  /// before rows are summed, and their sums.
  struct Sums {
    SmallVector<Value> prepared, sums;
  };
  Sums buildAlone(OpBuilder &builder, Group group);
  /// Sums a group beside writing the one before past the caches.
  Sums buildBoth(OpBuilder &builder, Group before, ValueRange factors,
                 Group group);
  Summed finishGroup(OpBuilder &builder, Group group, const Sums &sums);
  using SlotFn = function_ref<void(OpBuilder &, Value number, const Row &,
                                   MutableArrayRef<Value> running)>;
  SmallVector<Value> forEachSlot(OpBuilder &builder, Group group,
                                 ValueRange initial, SlotFn body);
  SmallVector<Value> getVectors(OpBuilder &builder, Group group,
                                unsigned count);
  SmallVector<Row> getRowsOf(OpBuilder &builder, Group group);
  /// The numbers of each row, all lanes the same, of vectors with an element
  /// for each row.
  SmallVector<SmallVector<Value>> getSplatsOf(OpBuilder &builder, Group group,
                                              ValueRange vectors);
  SmallVector<Value> getAheadOf(OpBuilder &builder, Group group);
  class Prefetcher;
  void buildPlainRows(OpBuilder &builder, Group group, const Summed &summed);
  void buildWholeGroups(OpBuilder &builder, IndexRange range);
  Value areShort(OpBuilder &builder, int64_t groupRows);
  Value areWorthGroups(OpBuilder &builder);
  int64_t getUnroll(OpBuilder &builder);
  Value getRowsPerTrip(OpBuilder &builder);

  SmallVector<Value> inputs;
  Value output;
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOVECTOR_ROWPIPELINE_H
