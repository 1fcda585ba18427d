//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The reference expansion of pol.rms_norm.

#include "ExpandKernel.h"
#include "Loops.h"
#include "RowScale.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// One kernel, and what all of its rows share.
class Expansion {
public:
  Expansion(RmsNormOp op, int64_t sumBlock)
      : op(op), sumBlock(sumBlock),
        elementType(cast<MemRefType>(op.getX().getType()).getElementType()),
        type(getAccumulationType(elementType)),
        rules(getScaleRules(elementType, op.getEps().convertToDouble())) {}

  void build(OpBuilder &builder);

private:
  OpFoldResult getLength(OpBuilder &builder, Location loc);
  void buildRow(OpBuilder &builder, Location loc, ValueRange indices);
  Value buildMean(OpBuilder &builder, Location loc, Value row, Value scale);
  void buildResult(OpBuilder &builder, Location loc, ValueRange indices,
                   Value row, Value scale, Value root);

  Value load(OpBuilder &builder, Location loc, Value row, Value index) {
    return convertFloat(builder, loc,
                        memref::LoadOp::create(builder, loc, row, index), type);
  }
  Value multiply(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
    return arith::MulFOp::create(builder, loc, lhs, rhs);
  }

  RmsNormOp op;
  int64_t sumBlock;
  Type elementType;
  FloatType type;
  SmallVector<ScaleRule> rules;
  /// The length of rows, and as a number to divide by.
  OpFoldResult length;
  Value count;
};
} // namespace

void Expansion::build(OpBuilder &builder) {
  Location loc = op.getLoc();
  length = getLength(builder, loc);
  count = FloatBuilder{builder, loc, type}.count(length);
  buildRowLoop(builder, loc, op.getX(),
               [&](OpBuilder &body, Location, ValueRange indices) {
                 buildRow(body, loc, indices);
               });
}

/// The length of rows, known if that of any operand is.
OpFoldResult Expansion::getLength(OpBuilder &builder, Location loc) {
  for (Value array : {op.getX(), op.getY(), op.getWeight()})
    if (array)
      if (auto type = cast<MemRefType>(array.getType());
          !ShapedType::isDynamic(type.getShape().back()))
        return builder.getIndexAttr(type.getShape().back());
  int64_t rank = cast<MemRefType>(op.getX().getType()).getRank();
  return getExtent(builder, loc, op.getX(), rank - 1);
}

void Expansion::buildRow(OpBuilder &builder, Location loc, ValueRange indices) {
  // The row of an array that is known to have no columns cannot be named, as
  // `memref.subview` wants offsets within it, and has nothing but a root.
  bool isEmpty = getConstantIntValue(length) == 0;
  Value row;
  if (!isEmpty)
    row = getRow(builder, loc, op.getX(), indices, length);
  RowScales scales;
  Value scale;
  if (!isEmpty && !rules.empty()) {
    Value maximum = buildMagnitude(builder, loc, length, type,
                                   [&](OpBuilder &b, Location, Value index) {
                                     return load(b, loc, row, index);
                                   });
    scales = buildRowScales(builder, loc, rules, maximum);
    scale = multiply(builder, loc, scales.element, scales.root);
  }

  Value eps =
      getFloatConstant(builder, loc, type, op.getEps().convertToDouble());
  // Not by the square of the scale, which may vanish where this does not.
  if (scale)
    eps = multiply(builder, loc, multiply(builder, loc, eps, scale), scale);
  Value mean = isEmpty ? getFloatConstant(builder, loc, type, 0.0)
                       : buildMean(builder, loc, row, scale);
  Value biased = arith::AddFOp::create(builder, loc, mean, eps);
  Value one = getFloatConstant(builder, loc, type, 1.0);
  // A division, as math.rsqrt may be an approximation.
  Value root = arith::DivFOp::create(
      builder, loc, one, math::SqrtOp::create(builder, loc, biased));
  if (scale)
    root = multiply(builder, loc, root, scales.root);

  // All of the row has been read: it may be overwritten, as y may be x.
  if (!isEmpty)
    buildResult(builder, loc, indices, row, scales.element, root);
  if (Value rstd = op.getRstd()) {
    // Infinite for rows so small that the reciprocal of their root mean square
    // is not representable (with f32, under 3e-39); y is right even then.
    if (scale)
      root = multiply(builder, loc, root, scales.element);
    memref::StoreOp::create(builder, loc, root, rstd, indices);
  }
}

/// The mean of the squares of a row, scaled unless the scale is null.
Value Expansion::buildMean(OpBuilder &builder, Location loc, Value row,
                           Value scale) {
  Value sum = buildBlockedSum(builder, loc, length, sumBlock, type,
                              [&](OpBuilder &b, Location, Value index) {
                                Value value = load(b, loc, row, index);
                                if (scale)
                                  value = multiply(b, loc, value, scale);
                                return multiply(b, loc, value, value);
                              });
  return arith::DivFOp::create(builder, loc, sum, count);
}

/// y = (x · scale) · root · (weight + offset), each element read before it is
/// written.
void Expansion::buildResult(OpBuilder &builder, Location loc,
                            ValueRange indices, Value row, Value scale,
                            Value root) {
  SmallVector<Value> inputs{row};
  if (op.getWeight())
    inputs.push_back(op.getWeight());
  Value output = getRow(builder, loc, op.getY(), indices, length);
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              builder.getMultiDimIdentityMap(1));
  double offset = op.getOffset().convertToDouble();
  auto body = [&](OpBuilder &b, Location, ValueRange elements) {
    Value value = convertFloat(b, loc, elements[0], type);
    if (scale)
      value = multiply(b, loc, value, scale);
    value = multiply(b, loc, value, root);
    if (op.getWeight()) {
      Value weight = convertFloat(b, loc, elements[1], type);
      if (offset != 0)
        weight = arith::AddFOp::create(b, loc, weight,
                                       getFloatConstant(b, loc, type, offset));
      value = multiply(b, loc, value, weight);
    }
    linalg::YieldOp::create(
        b, loc, convertFloat(b, loc, value, elements.back().getType()));
  };
  linalg::GenericOp::create(builder, loc, inputs, output, maps,
                            utils::IteratorType::parallel, body);
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

static void expandRmsNorm(OpBuilder &builder, RmsNormOp op, int64_t sumBlock) {
  Expansion(op, sumBlock).build(builder);
}

void mlir::pol::populateRmsNormToLinalgPatterns(RewritePatternSet &patterns,
                                                int64_t sumBlock) {
  patterns.add<ExpandKernel<RmsNormOp>>(patterns.getContext(), expandRmsNorm,
                                        sumBlock);
}
