//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sums of vectors, a tile of columns at a time.

#ifndef POL_LIB_CONVERSION_POLTOLINALG_TILESUMS_H
#define POL_LIB_CONVERSION_POLTOLINALG_TILESUMS_H

#include "Loops.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::pol {

/// Columns that are summed together.
inline constexpr int64_t kTileColumns = 64;

/// For each column c of a tile, sums over indices i. Addends are summed in
/// blocks of `block` indices, from zero, and the blocks are added with
/// compensation, in order. Three tiles are on the stack, 1.5 KiB at most.
class TileSums {
public:
  /// Adds what is to be summed, by calls of `add`.
  using AccumulateFn = function_ref<void(OpBuilder &)>;
  /// What the sum of a column is for.
  using StoreFn = function_ref<void(OpBuilder &, Value column, Value sum)>;
  /// What all columns of an index share: a factor, or null.
  using FactorFn = function_ref<Value(OpBuilder &, Value index)>;
  using ElementFn = function_ref<Value(OpBuilder &, Value index, Value column)>;

  /// Builds the tiles where the builder is: outside of loops, in the body of a
  /// parallel one or in a function.
  TileSums(OpBuilder &builder, Location loc, FloatType type, int64_t block);

  /// Sums the columns from `first` on, a tile of them or up to `length`.
  void buildTile(OpBuilder &builder, Value first, Value length,
                 AccumulateFn accumulate, StoreFn store);
  /// Sums all columns, tile after tile.
  void build(OpBuilder &builder, Value length, AccumulateFn accumulate,
             StoreFn store);
  /// Adds factor(i) · element(i, c), or element(i, c) where there is no factor,
  /// for indices that are kept.
  void add(OpBuilder &builder, const KeptRange &kept, FactorFn factor,
           ElementFn element);

private:
  void forEachColumn(OpBuilder &builder,
                     function_ref<void(OpBuilder &, Value)> body);
  void clear(OpBuilder &builder, Value tile);
  Compensated load(OpBuilder &builder, Value column);
  void addBlock(OpBuilder &builder, const KeptRange &kept, FactorFn factor,
                ElementFn element);
  void addIndex(OpBuilder &builder, Value index, FactorFn factor,
                ElementFn element);

  Location loc;
  FloatType type;
  int64_t block;
  Value sums;
  Value rests;
  Value blockSums;
  /// Of the tile that is being built.
  Value first;
  Value width;
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOLINALG_TILESUMS_H
