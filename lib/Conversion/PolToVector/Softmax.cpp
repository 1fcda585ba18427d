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

  using RowPipeline::buildRows;

private:
  Value load(VectorBuilder &v, const Row &row, Value index, Value mask);
  Value getNumerator(VectorBuilder &v, const Row &row, Value maximum,
                     Value index, Value mask);

  void begin(OpBuilder &builder) override {
    if (isKept)
      tile = memref::AllocaOp::create(
          builder, loc,
          MemRefType::get(
              {getGroupRows(), getTileLength(type) / getGroupRows()}, type),
          builder.getI64IntegerAttr(64));
  }
  Counts getCounts() const override { return {1, 1, 2}; }
  bool areSumsLong() const override { return true; }
  int64_t getGroupRows() const override;
  SmallVector<Value> prepare(OpBuilder &builder, const Row &row) override;
  void add(VectorBuilder &v, const Row &row, ValueRange prepared, Value index,
           Value mask, MutableArrayRef<Value> sums) override;
  Factors finish(OpBuilder &builder, const Row &row, ValueRange prepared,
                 ValueRange sums) override;
  Value getResult(VectorBuilder &v, const Row &row, ValueRange factors,
                  Value index, Value mask) override;

  SoftmaxOp op;
  FloatType type;
  /// Whether exponentials are kept, and where.
  bool isKept;
  Value tile;
};
} // namespace

static constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// As many as there are exponentials kept of.
int64_t Softmax::getGroupRows() const {
  int64_t most = RowPipeline::getGroupRows();
  if (!isKept)
    return most;
  std::optional<int64_t> length = getConstantIntValue(rows.getLength());
  while (most > 1 && (!length || most * *length > getTileLength(type)))
    most /= 2;
  return most;
}

/// Less than any element where there is none.
Value Softmax::load(VectorBuilder &v, const Row &row, Value index, Value mask) {
  Value value = v.load(row.inputs.front(), index, mask);
  return mask ? v.select(mask, value, v.constant(kLowest)) : value;
}

/// exp(x − max x), less than all if there is no element.
Value Softmax::getNumerator(VectorBuilder &v, const Row &row, Value maximum,
                            Value index, Value mask) {
  return v.expOfNegative(v.subtract(load(v, row, index, mask), maximum));
}

SmallVector<Value> Softmax::prepare(OpBuilder &builder, const Row &row) {
  return {rows.maximum(builder, kLowest,
                       [&](VectorBuilder &v, Value index, Value mask,
                           MutableArrayRef<Value> running) {
                         running[0] =
                             v.larger(load(v, row, index, mask), running[0]);
                       })};
}

void Softmax::add(VectorBuilder &v, const Row &row, ValueRange prepared,
                  Value index, Value mask, MutableArrayRef<Value> sums) {
  Value numerator = getNumerator(v, row, prepared.front(), index, mask);
  if (isKept)
    v.store(numerator, tile, {row.slot, index});
  sums[0] = v.add(sums[0], numerator);
}

RowPipeline::Factors Softmax::finish(OpBuilder &builder, const Row &,
                                     ValueRange prepared, ValueRange sums) {
  FloatBuilder floats{builder, loc, type};
  Value inverse = floats.divide(floats.constant(1.0), sums.front());
  return {{prepared.front(), inverse}, /*isPlain=*/Value()};
}

Value Softmax::getResult(VectorBuilder &v, const Row &row, ValueRange factors,
                         Value index, Value mask) {
  Value numerator = isKept ? v.load(tile, {row.slot, index})
                           : getNumerator(v, row, factors[0], index, mask);
  return v.multiply(numerator, factors[1]);
}

static void expandSoftmax(OpBuilder &builder, SoftmaxOp op, TargetAttr target) {
  auto build = [&](OpBuilder &b, bool isKept) {
    Softmax(b, op, target, isKept).buildRows(b);
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

namespace {
/// dx = y · (dy − Σ dy·y)
class SoftmaxGrad : RowPipeline {
public:
  SoftmaxGrad(OpBuilder &builder, SoftmaxGradOp op, TargetAttr target)
      : RowPipeline(builder, op.getLoc(), target, {op.getY(), op.getDy()},
                    op.getDx()) {}

  using RowPipeline::buildRows;

private:
  Counts getCounts() const override { return {0, 1, 1}; }
  void add(VectorBuilder &v, const Row &row, ValueRange, Value index,
           Value mask, MutableArrayRef<Value> sums) override {
    sums[0] = v.fma(v.load(row.inputs[1], index, mask),
                    v.load(row.inputs[0], index, mask), sums[0]);
  }
  Factors finish(OpBuilder &, const Row &, ValueRange,
                 ValueRange sums) override {
    return {SmallVector<Value>(sums), /*isPlain=*/Value()};
  }
  Value getResult(VectorBuilder &v, const Row &row, ValueRange factors,
                  Value index, Value mask) override {
    Value difference =
        v.subtract(v.load(row.inputs[1], index, mask), factors.front());
    return v.multiply(v.load(row.inputs[0], index, mask), difference);
  }
};
} // namespace

static void expandSoftmaxGrad(OpBuilder &builder, SoftmaxGradOp op,
                              TargetAttr target) {
  if (op.getDx())
    SoftmaxGrad(builder, op, target).buildRows(builder);
}

void mlir::pol::populateSoftmaxToVectorPatterns(RewritePatternSet &patterns,
                                                TargetAttr target) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandToVector<SoftmaxOp>>(context, expandSoftmax, target);
  patterns.add<ExpandToVector<SoftmaxGradOp>>(context, expandSoftmaxGrad,
                                              target);
}
