//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The tuned expansions of pol.softmax and pol.softmax_grad.

#include "ExpandKernel.h"
#include "RowPipeline.h"
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
class Softmax : RowPipeline {
public:
  Softmax(OpBuilder &builder, SoftmaxOp op, TargetAttr target, bool isKept)
      : RowPipeline(builder, op.getLoc(), target, op.getX(), op.getY()), op(op),
        type(rows.getType()), isKept(isKept) {}

  void build(OpBuilder &builder) {
    buildRows(builder, /*cachedRows=*/std::nullopt);
  }

private:
  Value load(VectorBuilder &v, Value row, Value index, Value mask);
  Value getNumerator(VectorBuilder &v, Value row, Value maximum, Value index,
                     Value mask);

  void begin(OpBuilder &builder) override {
    if (isKept)
      tile = memref::AllocaOp::create(
          builder, loc, MemRefType::get(getTileLength(type), type),
          builder.getI64IntegerAttr(64));
  }
  void buildRow(OpBuilder &builder, ValueRange at) override;
  SmallVector<Value> prepare(OpBuilder &builder, Value row) override;
  unsigned getNumSums() const override { return 1; }
  void add(VectorBuilder &v, Value row, ValueRange prepared, Value index,
           Value mask, MutableArrayRef<Value> sums) override;
  Factors finish(OpBuilder &builder, ValueRange at, Value row,
                 ValueRange prepared, ValueRange sums) override;
  Value getResult(VectorBuilder &v, Value row, ValueRange factors, Value index,
                  Value mask) override;

  SoftmaxOp op;
  FloatType type;
  /// Whether exponentials are kept, and where.
  bool isKept;
  Value tile;
};
} // namespace

static constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// Less than any element where there is none.
Value Softmax::load(VectorBuilder &v, Value row, Value index, Value mask) {
  Value value = v.load(row, index, mask);
  return mask ? v.select(mask, value, v.constant(kLowest)) : value;
}

/// exp(x − max x), less than all if there is no element.
Value Softmax::getNumerator(VectorBuilder &v, Value row, Value maximum,
                            Value index, Value mask) {
  return v.expOfNegative(v.subtract(load(v, row, index, mask), maximum));
}

SmallVector<Value> Softmax::prepare(OpBuilder &builder, Value row) {
  return {rows.maximum(builder, kLowest,
                       [&](VectorBuilder &v, Value index, Value mask,
                           MutableArrayRef<Value> running) {
                         running[0] =
                             v.larger(load(v, row, index, mask), running[0]);
                       })};
}

void Softmax::add(VectorBuilder &v, Value row, ValueRange prepared, Value index,
                  Value mask, MutableArrayRef<Value> sums) {
  Value numerator =
      getNumerator(v, row, v.splat(prepared.front()), index, mask);
  if (isKept)
    v.store(numerator, tile, index);
  sums[0] = v.add(sums[0], numerator);
}

RowPipeline::Factors Softmax::finish(OpBuilder &builder, ValueRange, Value,
                                     ValueRange prepared, ValueRange sums) {
  FloatBuilder floats{builder, loc, type};
  Value inverse = floats.divide(floats.constant(1.0), sums.front());
  return {{prepared.front(), inverse},
          arith::ConstantIntOp::create(builder, loc, 1, 1)};
}

Value Softmax::getResult(VectorBuilder &v, Value row, ValueRange factors,
                         Value index, Value mask) {
  Value numerator = isKept ? v.load(tile, index)
                           : getNumerator(v, row, factors[0], index, mask);
  return v.multiply(numerator, factors[1]);
}

void Softmax::buildRow(OpBuilder &builder, ValueRange at) {
  Value row = getRow(builder, loc, op.getX(), at, rows.getLength());
  Rows::Ahead ahead = rows.getAhead(builder, op.getX());
  SmallVector<Value> prepared = prepare(builder, row);
  int64_t vector = 0;
  SmallVector<Value> sums =
      rows.sum(builder, getNumSums(),
               [&](VectorBuilder &v, Value index, Value mask,
                   MutableArrayRef<Value> running) {
                 // Exponentials take so long that no load waits for a prefetch.
                 rows.prefetchLines(v, ahead.inWrite, index, vector++);
                 add(v, row, prepared, index, mask, running);
               });
  SmallVector<Value> splats;
  for (Value factor : finish(builder, at, row, prepared, sums).values)
    splats.push_back(rows.vectors(builder).splat(factor));
  Value output = getRow(builder, loc, op.getY(), at, rows.getLength());
  rows.write(builder, output, /*ahead=*/{},
             [&](VectorBuilder &v, Value index, Value mask, StoreKind kind) {
               v.store(getResult(v, row, splats, index, mask), output, index,
                       mask, kind);
             });
}

static void expandSoftmax(OpBuilder &builder, SoftmaxOp op, TargetAttr target) {
  auto build = [&](OpBuilder &b, bool isKept) {
    Softmax(b, op, target, isKept).build(b);
  };
  Location loc = op.getLoc();
  Rows rows(builder, loc, op.getX(), target);
  int64_t most = getTileLength(rows.getType());
  Value isShort = builder.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ule, rows.getEnd(),
      arith::ConstantIndexOp::create(builder, loc, most));
  if (std::optional<int64_t> known = getConstantIntValue(isShort))
    return build(builder, *known != 0);
  auto choice =
      scf::IfOp::create(builder, loc, isShort, /*withElseRegion=*/true);
  OpBuilder then = choice.getThenBodyBuilder();
  build(then, /*isKept=*/true);
  OpBuilder otherwise = choice.getElseBodyBuilder();
  build(otherwise, /*isKept=*/false);
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
