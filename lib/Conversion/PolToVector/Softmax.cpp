//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The tuned expansions of pol.softmax and pol.softmax_grad.

#include "ExpandKernel.h"
#include "Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pol/IR/PolOps.h"
#include <limits>

using namespace mlir;
using namespace mlir::pol;

/// Elements of the accumulation type whose exponentials are kept on the stack,
/// 16 KiB.
static int64_t getTileLength(FloatType type) {
  return 16384 / (type.getWidth() / 8);
}

namespace {
/// Three passes over a row: the maximum, the sum, and the result. Exponentials
/// are kept from the second to the third on the stack, where they fit, and
/// computed anew where they do not. Each element is read before it is written,
/// and the sum is complete before that: y may be x.
class Softmax {
public:
  Softmax(OpBuilder &builder, SoftmaxOp op, TargetAttr target)
      : op(op), loc(op.getLoc()), rows(builder, loc, op.getX(), target),
        type(rows.getType()) {}

  void build(OpBuilder &builder);

private:
  /// Gives the exponential of an element, less than all if there is none.
  using NumeratorFn =
      std::function<Value(VectorBuilder &, Value index, Value mask)>;

  Value load(VectorBuilder &v, Value row, Value index, Value mask);
  NumeratorFn getNumerator(OpBuilder &builder, Value row);
  void buildRow(OpBuilder &builder, ValueRange at, Value tile);
  void buildRows(OpBuilder &builder, bool isKept);

  SoftmaxOp op;
  Location loc;
  Rows rows;
  FloatType type;
};
} // namespace

static constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// Less than any element where there is none.
Value Softmax::load(VectorBuilder &v, Value row, Value index, Value mask) {
  Value value = v.load(row, index, mask);
  return mask ? v.select(mask, value, v.constant(kLowest)) : value;
}

/// exp(x − max x)
Softmax::NumeratorFn Softmax::getNumerator(OpBuilder &builder, Value row) {
  Value maximum = rows.maximum(builder, kLowest,
                               [&](VectorBuilder &v, Value index, Value mask,
                                   MutableArrayRef<Value> running) {
                                 running[0] = v.larger(
                                     load(v, row, index, mask), running[0]);
                               });
  Value shift = rows.vectors(builder).splat(maximum);
  return [this, row, shift](VectorBuilder &v, Value index, Value mask) {
    Value difference = v.subtract(load(v, row, index, mask), shift);
    return v.expOfNegative(difference);
  };
}

/// With a tile for the exponentials, or none.
void Softmax::buildRow(OpBuilder &builder, ValueRange at, Value tile) {
  Value row = getRow(builder, loc, op.getX(), at, rows.getLength());
  Rows::Ahead ahead = rows.getAhead(builder, op.getX());
  NumeratorFn getOne = getNumerator(builder, row);
  int64_t vector = 0;
  SmallVector<Value> sums =
      rows.sum(builder, 1,
               [&](VectorBuilder &v, Value index, Value mask,
                   MutableArrayRef<Value> running) {
                 // Exponentials take so long that no load waits for a prefetch.
                 rows.prefetchLines(v, ahead.inWrite, index, vector++);
                 Value numerator = getOne(v, index, mask);
                 if (tile)
                   v.store(numerator, tile, index);
                 running[0] = v.add(running[0], numerator);
               });
  FloatBuilder floats{builder, loc, type};
  Value inverse = rows.vectors(builder).splat(
      floats.divide(floats.constant(1.0), sums.front()));
  Value output = getRow(builder, loc, op.getY(), at, rows.getLength());
  rows.write(
      builder, output, /*ahead=*/{},
      [&](VectorBuilder &v, Value index, Value mask, StoreKind kind) {
        Value numerator = tile ? v.load(tile, index) : getOne(v, index, mask);
        v.store(v.multiply(numerator, inverse), output, index, mask, kind);
      });
}

void Softmax::buildRows(OpBuilder &builder, bool isKept) {
  Value tile;
  auto buildTile = [&](OpBuilder &b) {
    if (isKept)
      tile = memref::AllocaOp::create(
          b, loc, MemRefType::get(getTileLength(type), type),
          b.getI64IntegerAttr(64));
  };
  rows.forEach(
      builder, [&](OpBuilder &b, ValueRange at) { buildRow(b, at, tile); },
      buildTile);
}

void Softmax::build(OpBuilder &builder) {
  Value isShort = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ule, rows.getEnd(),
      arith::ConstantIndexOp::create(builder, loc, getTileLength(type)));
  if (std::optional<int64_t> known = getConstantIntValue(isShort))
    return buildRows(builder, *known != 0);
  auto choice =
      scf::IfOp::create(builder, loc, isShort, /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder();
  buildRows(then, /*isKept=*/true);
  OpBuilder otherwise = choice.getElseBodyBuilder();
  buildRows(otherwise, /*isKept=*/false);
}

static void expandSoftmax(OpBuilder &builder, SoftmaxOp op, TargetAttr target) {
  Softmax(builder, op, target).build(builder);
}

/// dx = y · (dy − Σ dy·y)
static void expandSoftmaxGrad(OpBuilder &builder, SoftmaxGradOp op,
                              TargetAttr target) {
  if (!op.getDx())
    return;
  Location loc = op.getLoc();
  Rows rows(builder, loc, op.getY(), target);
  auto buildRow = [&](OpBuilder &b, ValueRange at) {
    Value y = getRow(b, loc, op.getY(), at, rows.getLength());
    Value dy = getRow(b, loc, op.getDy(), at, rows.getLength());
    Rows::Ahead ahead = rows.getAhead(b, {op.getY(), op.getDy()});
    Value sum = rows.sum(
                        b, 1,
                        [&](VectorBuilder &v, Value index, Value mask,
                            MutableArrayRef<Value> running) {
                          running[0] =
                              v.fma(v.load(dy, index, mask),
                                    v.load(y, index, mask), running[0]);
                        },
                        ahead.inSum)
                    .front();
    Value shift = rows.vectors(b).splat(sum);
    Value dx = getRow(b, loc, op.getDx(), at, rows.getLength());
    rows.write(b, dx, ahead.inWrite,
               [&](VectorBuilder &v, Value index, Value mask, StoreKind kind) {
                 Value difference = v.subtract(v.load(dy, index, mask), shift);
                 v.store(v.multiply(v.load(y, index, mask), difference), dx,
                         index, mask, kind);
               });
  };
  rows.forEach(builder, buildRow);
}

void mlir::pol::populateSoftmaxToVectorPatterns(RewritePatternSet &patterns,
                                                TargetAttr target) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandToVector<SoftmaxOp>>(context, expandSoftmax, target);
  patterns.add<ExpandToVector<SoftmaxGradOp>>(context, expandSoftmaxGrad,
                                              target);
}
