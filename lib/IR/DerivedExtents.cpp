//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Extents that are computed from others.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pol/IR/KernelSignature.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// Blocks of rows
//===----------------------------------------------------------------------===//

/// The product of extents. It may overflow where rows are empty.
static Value buildNumRows(OpBuilder &builder, Location loc,
                          ArrayRef<OpFoldResult> leading) {
  Value rows = arith::ConstantIndexOp::create(builder, loc, 1);
  for (OpFoldResult extent : leading)
    rows = builder.createOrFold<arith::MulIOp>(
        loc, rows, getValueOrCreateConstantIndexOp(builder, loc, extent));
  return rows;
}

Value mlir::pol::buildRowsPerBlock(OpBuilder &builder, Location loc,
                                   ArrayRef<OpFoldResult> leading) {
  Value multiple =
      arith::ConstantIndexOp::create(builder, loc, kRowBlockMultiple);
  Value most = arith::ConstantIndexOp::create(
      builder, loc, kMaxRowBlocks * kRowBlockMultiple);
  Value multiples = builder.createOrFold<arith::CeilDivUIOp>(
      loc, buildNumRows(builder, loc, leading), most);
  // Without rows there are no blocks, of any size but 0.
  return builder.createOrFold<arith::MaxUIOp>(
      loc, builder.createOrFold<arith::MulIOp>(loc, multiples, multiple),
      multiple);
}

/// The number of blocks that rows in these leading dimensions are summed in.
static int64_t inferNumRowBlocks(ArrayRef<int64_t> leading, DictionaryAttr) {
  int64_t rows = 1;
  for (int64_t extent : leading)
    if (ShapedType::isDynamic(extent) || llvm::MulOverflow(rows, extent, rows))
      return ShapedType::kDynamic;
  uint64_t subBlocks = llvm::divideCeil(static_cast<uint64_t>(rows),
                                        kMaxRowBlocks * kRowBlockMultiple);
  if (subBlocks == 0)
    return 0;
  return llvm::divideCeil(static_cast<uint64_t>(rows),
                          kRowBlockMultiple * subBlocks);
}

/// The same at run time. At most `kMaxRowBlocks` even where the number of rows
/// overflows, as it may where rows are empty.
static OpFoldResult buildNumRowBlocks(OpBuilder &builder, Location loc,
                                      ArrayRef<OpFoldResult> leading,
                                      DictionaryAttr) {
  return getAsOpFoldResult(builder.createOrFold<arith::CeilDivUIOp>(
      loc, buildNumRows(builder, loc, leading),
      buildRowsPerBlock(builder, loc, leading)));
}

const DerivedExtent mlir::pol::kRowBlocks{'P', "*", inferNumRowBlocks,
                                          buildNumRowBlocks};

//===----------------------------------------------------------------------===//
// Lists of tiles
//===----------------------------------------------------------------------===//

/// The number of tiles, and `more`.
template <int64_t more>
static int64_t inferNumTiles(ArrayRef<int64_t> extent, DictionaryAttr) {
  if (ShapedType::isDynamic(extent.front()))
    return ShapedType::kDynamic;
  return llvm::divideCeil(static_cast<uint64_t>(extent.front()), kMaskTile) +
         more;
}

template <int64_t more>
static OpFoldResult buildNumTiles(OpBuilder &builder, Location loc,
                                  ArrayRef<OpFoldResult> extent,
                                  DictionaryAttr) {
  Value size = arith::ConstantIndexOp::create(builder, loc, kMaskTile);
  Value count = builder.createOrFold<arith::CeilDivUIOp>(
      loc, getValueOrCreateConstantIndexOp(builder, loc, extent.front()), size);
  return getAsOpFoldResult(builder.createOrFold<arith::AddIOp>(
      loc, count, arith::ConstantIndexOp::create(builder, loc, more)));
}

const DerivedExtent mlir::pol::kTileLists[4] = {
    {'Q', "S", inferNumTiles<0>, buildNumTiles<0>},
    {'R', "T", inferNumTiles<1>, buildNumTiles<1>},
    {'U', "T", inferNumTiles<0>, buildNumTiles<0>},
    {'V', "S", inferNumTiles<1>, buildNumTiles<1>},
};
