//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How attention is cut into tiles.

#include "pol/IR/AttentionTiling.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pol;

/// Keys of a tile: their scores stay in the first-level cache, if not all that
/// is multiplied does; and where that cache is larger.
static constexpr int64_t kKeysPerTile = 64;
static constexpr int64_t kKeysPerLargerTile = 128;
static constexpr int64_t kLargerL1Bytes = 48 * 1024;
/// There are two tiles of the gradients: 4 or 8 rows fill them, and 6.
static constexpr int64_t kKeysPerGradTile = 72;
/// The longer, the less often queries are packed for others; the sums stay in
/// the second cache.
static constexpr int64_t kSummedKeys = 4 * kKeysPerGradTile;

AttentionTiling::AttentionTiling(TargetAttr target, FloatType accumulation)
    : lanes(target.getVectorBits() / accumulation.getWidth()) {
  // Of 32 registers 8×3 hold sums, of 16 those of 6×2: the others are for the
  // vectors and the number that are multiplied. Of the widest vectors, two are
  // multiplied at a time at most, so that 4×4 sums are enough, and fill blocks
  // of queries whose number is a power of two.
  bool hasMany = target.getVectorRegisters() >= 32;
  bool isWidest = hasMany && target.getVectorBits() >= 512;
  vectors = isWidest ? 4 : hasMany ? 3 : 2;
  rows = isWidest ? 4 : hasMany ? 8 : 6;
  queries = lanes * vectors;
  keys =
      target.getL1Bytes() >= kLargerL1Bytes ? kKeysPerLargerTile : kKeysPerTile;
  gradKeys = kKeysPerGradTile;
  keyRows = 6;
  columnVectors = hasMany ? 4 : 2;
  summedKeys = kSummedKeys;
}

namespace {
/// Arithmetic on extents, which are not so large that it could overflow where
/// there are arrays of them.
struct Extents {
  OpBuilder &builder;
  Location loc;

  OpFoldResult constant(int64_t value) { return builder.getIndexAttr(value); }
  template <typename OpTy> OpFoldResult fold(OpFoldResult a, OpFoldResult b) {
    return getAsOpFoldResult(builder.createOrFold<OpTy>(
        loc, getValueOrCreateConstantIndexOp(builder, loc, a),
        getValueOrCreateConstantIndexOp(builder, loc, b)));
  }
  OpFoldResult add(OpFoldResult a, OpFoldResult b) {
    return fold<arith::AddIOp>(a, b);
  }
  OpFoldResult multiply(OpFoldResult a, int64_t factor) {
    return fold<arith::MulIOp>(a, constant(factor));
  }
  OpFoldResult roundUp(OpFoldResult a, int64_t multiple) {
    return multiply(fold<arith::CeilDivUIOp>(a, constant(multiple)), multiple);
  }
};
} // namespace

AttentionWorkspace::AttentionWorkspace(OpBuilder &builder, Location loc,
                                       TargetAttr target, OpFoldResult depth,
                                       OpFoldResult valueDepth) {
  // Of f32, whose tiles are the larger ones.
  AttentionTiling tiling(target, Float32Type::get(builder.getContext()));
  Extents extents{builder, loc};
  queries = extents.constant(0);
  result = extents.multiply(depth, tiling.queries);
  OpFoldResult columns = extents.roundUp(valueDepth, tiling.rows);
  OpFoldResult resultSize = extents.multiply(columns, tiling.queries);
  part = extents.add(result, resultSize);
  scores = extents.add(part, resultSize);
  int64_t keyRows = llvm::alignTo(tiling.keys, tiling.rows);
  // Each worker's part begins where a vector may.
  size = extents.roundUp(
      extents.add(scores, extents.constant(keyRows * tiling.queries)), 64);
}

AttentionGradWorkspace::AttentionGradWorkspace(OpBuilder &builder, Location loc,
                                               TargetAttr target,
                                               OpFoldResult depth,
                                               OpFoldResult valueDepth,
                                               OpFoldResult keys) {
  AttentionTiling tiling(target, Float32Type::get(builder.getContext()));
  Extents extents{builder, loc};
  queries = extents.constant(0);
  cotangents = extents.multiply(depth, tiling.queries);
  result =
      extents.add(cotangents, extents.multiply(valueDepth, tiling.queries));
  OpFoldResult columns = extents.roundUp(depth, tiling.rows);
  total = extents.add(result, extents.multiply(columns, tiling.queries));
  scores = extents.add(total, extents.multiply(depth, tiling.queries));
  OpFoldResult tileKeys =
      extents.fold<arith::MinUIOp>(keys, extents.constant(tiling.gradKeys));
  OpFoldResult tile =
      extents.multiply(extents.roundUp(tileKeys, tiling.rows), tiling.queries);
  gradients = extents.add(scores, tile);
  keySums = extents.add(gradients, tile);
  summedKeys =
      extents.fold<arith::MinUIOp>(keys, extents.constant(kSummedKeys));
  auto getSums = [&](OpFoldResult columnCount) {
    return extents.multiply(
        extents.fold<arith::MulIOp>(columnCount, summedKeys), 3);
  };
  valueSums = extents.add(keySums, getSums(depth));
  size = extents.roundUp(extents.add(valueSums, getSums(valueDepth)), 64);
}

/// What depends on the target is known where code is built, and no earlier.
static int64_t inferNothing(ArrayRef<int64_t>, DictionaryAttr) {
  return ShapedType::kDynamic;
}

static OpFoldResult buildWorkers(OpBuilder &builder, Location loc,
                                 ArrayRef<OpFoldResult>, DictionaryAttr) {
  TargetAttr target = lookupTarget(builder.getInsertionBlock()->getParentOp());
  return builder.getIndexAttr(target ? target.getMaxWorkers() : 0);
}

/// How much a workspace is for the module's target, if it names one.
static OpFoldResult
buildSizeFor(OpBuilder &builder,
             function_ref<OpFoldResult(TargetAttr)> getSize) {
  TargetAttr target = lookupTarget(builder.getInsertionBlock()->getParentOp());
  return target ? getSize(target) : builder.getIndexAttr(0);
}

static OpFoldResult buildSize(OpBuilder &builder, Location loc,
                              ArrayRef<OpFoldResult> extents, DictionaryAttr) {
  return buildSizeFor(builder, [&](TargetAttr target) {
    return AttentionWorkspace(builder, loc, target, extents[0], extents[1])
        .size;
  });
}

static OpFoldResult buildGradSize(OpBuilder &builder, Location loc,
                                  ArrayRef<OpFoldResult> extents,
                                  DictionaryAttr) {
  return buildSizeFor(builder, [&](TargetAttr target) {
    return AttentionGradWorkspace(builder, loc, target, extents[0], extents[1],
                                  extents[2])
        .size;
  });
}

const DerivedExtent mlir::pol::kWorkspace[2] = {
    {'W', "", inferNothing, buildWorkers},
    {'X', "DE", inferNothing, buildSize}};

const DerivedExtent mlir::pol::kGradWorkspace[2] = {
    kWorkspace[0], {'X', "DET", inferNothing, buildGradSize}};
