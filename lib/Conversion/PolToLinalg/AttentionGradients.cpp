//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The gradient of one score of attention.

#include "AttentionGradients.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::pol;

Value ScoreGradients::getWeight(OpBuilder &builder, const Query &query,
                                Value score) {
  FloatBuilder floats{builder, loc, type};
  SmallVector<Value> row = query.getPlace();
  Value shifted = floats.subtract(score, floats.load(op.getMax(), row));
  return floats.divide(floats.exp(shifted), floats.load(op.getSum(), row));
}

RegionGradient ScoreGradients::getGradient(OpBuilder &builder,
                                           const Query &query, Value key,
                                           bool wantsProduct,
                                           ArrayRef<unsigned> captures) {
  Score score = scores.getScore(builder, query, key);
  SmallVector<Value> keyPlace = scores.getKeyPlace(builder, query, key);
  Value weightGradient = buildBlockedSum(
      builder, loc, getAsOpFoldResult(scores.valueDepth), sumBlock, type,
      [&](OpBuilder &b, Location, Value e) {
        FloatBuilder floats{b, loc, type};
        Value dout = floats.load(op.getDout(), append(query.getPlace(), e));
        Value v = floats.load(op.getV(), append(keyPlace, e));
        return floats.multiply(dout, v);
      });
  FloatBuilder floats{builder, loc, type};
  SmallVector<Value> row = query.getPlace();
  Value difference =
      floats.subtract(weightGradient, floats.load(op.getDelta(), row));
  Value seed =
      floats.multiply(getWeight(builder, query, score.value), difference);
  if (op.getScore().empty()) {
    RegionGradient gradient;
    gradient.input = seed;
    return gradient;
  }
  return buildRegionGradient(builder, op.getScore(), score.evaluated, seed,
                             wantsProduct, captures);
}

Value ScoreGradients::getProductGradient(OpBuilder &builder, const Query &query,
                                         Value key) {
  RegionGradient gradient =
      getGradient(builder, query, key, /*wantsProduct=*/true, {});
  return gradient.input ? gradient.input
                        : FloatBuilder{builder, loc, type}.constant(0.0);
}

SmallVector<RegionGradient::Load>
ScoreGradients::getLoadGradients(OpBuilder &builder, const Query &query,
                                 Value key, unsigned argument) {
  return getGradient(builder, query, key, /*wantsProduct=*/false, argument)
      .loads;
}

Value ScoreGradients::getLoadGradient(OpBuilder &builder, const Query &query,
                                      Value key, Operation *load) {
  unsigned argument = cast<BlockArgument>(load->getOperand(0)).getArgNumber();
  for (const RegionGradient::Load &found :
       getLoadGradients(builder, query, key, argument))
    if (found.op == load)
      return convertFloat(builder, loc, found.cotangent, type);
  return FloatBuilder{builder, loc, type}.constant(0.0);
}
