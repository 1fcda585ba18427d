//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The reference expansions of pol.softmax and pol.softmax_grad.

#include "ExpandKernel.h"
#include "Loops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "pol/IR/PolOps.h"
#include <limits>

using namespace mlir;
using namespace mlir::pol;

namespace {
/// Rows of arrays of one shape.
struct Rows {
  OpFoldResult length;
  Value begin;
  Value end;
  FloatType type;

  Rows(OpBuilder &builder, Location loc, Value array) {
    auto arrayType = cast<MemRefType>(array.getType());
    length = getExtent(builder, loc, array, arrayType.getRank() - 1);
    begin = arith::ConstantIndexOp::create(builder, loc, 0);
    end = getValueOrCreateConstantIndexOp(builder, loc, length);
    type = getAccumulationType(arrayType.getElementType());
  }
};
} // namespace

/// Each element is read before it is written, and the sums are complete before
/// that, so y may be x.
static void expandSoftmax(OpBuilder &builder, SoftmaxOp op, int64_t sumBlock) {
  Location loc = op.getLoc();
  Value x = op.getX();
  Rows rows(builder, loc, x);
  auto buildRow = [&](OpBuilder &b, Location, ValueRange row) {
    FloatBuilder floats{b, loc, rows.type};
    Value lowest = floats.constant(-std::numeric_limits<double>::infinity());
    Value maximum =
        buildMaximum(b, loc, rows.length, lowest,
                     [&](OpBuilder &inner, Location, Value column) {
                       return FloatBuilder{inner, loc, rows.type}.load(
                           x, append(row, column));
                     });
    auto getNumerator = [&](OpBuilder &inner, Location, Value column) {
      FloatBuilder element{inner, loc, rows.type};
      return element.exp(
          element.subtract(element.load(x, append(row, column)), maximum));
    };
    Value sum =
        buildBlockedSum(b, loc, rows.length, sumBlock, rows.type, getNumerator);
    buildLoop(b, loc, rows.begin, rows.end, 1,
              [&](OpBuilder &inner, Location, ValueRange column) {
                FloatBuilder element{inner, loc, rows.type};
                Value numerator = getNumerator(inner, loc, column.front());
                element.store(element.divide(numerator, sum), op.getY(),
                              append(row, column.front()));
              });
  };
  buildRowLoop(builder, loc, x, buildRow);
}

static void expandSoftmaxGrad(OpBuilder &builder, SoftmaxGradOp op,
                              int64_t sumBlock) {
  if (!op.getDx())
    return;
  Location loc = op.getLoc();
  Rows rows(builder, loc, op.getY());
  auto buildRow = [&](OpBuilder &b, Location, ValueRange row) {
    Value sum =
        buildBlockedSum(b, loc, rows.length, sumBlock, rows.type,
                        [&](OpBuilder &inner, Location, Value column) {
                          FloatBuilder element{inner, loc, rows.type};
                          SmallVector<Value> at = append(row, column);
                          return element.multiply(element.load(op.getDy(), at),
                                                  element.load(op.getY(), at));
                        });
    buildLoop(b, loc, rows.begin, rows.end, 1,
              [&](OpBuilder &inner, Location, ValueRange column) {
                FloatBuilder element{inner, loc, rows.type};
                SmallVector<Value> at = append(row, column.front());
                Value difference =
                    element.subtract(element.load(op.getDy(), at), sum);
                Value y = element.load(op.getY(), at);
                element.store(element.multiply(y, difference), op.getDx(), at);
              });
  };
  buildRowLoop(builder, loc, op.getY(), buildRow);
}

void mlir::pol::populateSoftmaxToLinalgPatterns(RewritePatternSet &patterns,
                                                int64_t sumBlock) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandKernel<SoftmaxOp>>(context, expandSoftmax, sumBlock);
  patterns.add<ExpandKernel<SoftmaxGradOp>>(context, expandSoftmaxGrad,
                                            sumBlock);
}
