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
#include "pol/IR/PolOps.h"
#include <limits>

using namespace mlir;
using namespace mlir::pol;

/// Three passes over a row, the last two of which find it in the cache: the
/// maximum, the sum, and the result, for which exponentials are computed anew.
/// Each element is read before it is written, and the sum is complete before
/// that: y may be x.
static void expandSoftmax(OpBuilder &builder, SoftmaxOp op, TargetAttr target) {
  Location loc = op.getLoc();
  Rows rows(builder, loc, op.getX(), target);
  constexpr double lowest = -std::numeric_limits<double>::infinity();
  auto buildRow = [&](OpBuilder &b, ValueRange at) {
    Value row = getRow(b, loc, op.getX(), at, rows.getLength());
    // Less than any element where there is none.
    auto load = [&](VectorBuilder &v, Value index, Value mask) {
      Value value = v.load(row, index, mask);
      return mask ? v.select(mask, value, v.constant(lowest)) : value;
    };
    Value maximum = rows.maximum(
        b, lowest,
        [&](VectorBuilder &v, Value index, Value mask,
            MutableArrayRef<Value> running) {
          running[0] = v.larger(load(v, index, mask), running[0]);
        });
    Value shift = rows.vectors(b).splat(maximum);
    auto getNumerator = [&](VectorBuilder &v, Value index, Value mask) {
      return v.exp(v.subtract(load(v, index, mask), shift));
    };
    Value sum =
        rows.sum(b, 1,
                 [&](VectorBuilder &v, Value index, Value mask,
                     MutableArrayRef<Value> running) {
                   running[0] =
                       v.add(running[0], getNumerator(v, index, mask));
                 })
            .front();
    FloatBuilder floats{b, loc, rows.getType()};
    Value inverse =
        rows.vectors(b).splat(floats.divide(floats.constant(1.0), sum));
    Value output = getRow(b, loc, op.getY(), at, rows.getLength());
    rows.write(b, output, op.getX(),
               [&](VectorBuilder &v, Value index, Value mask, StoreKind kind) {
                 v.store(v.multiply(getNumerator(v, index, mask), inverse),
                         output, index, mask, kind);
               });
  };
  rows.forEach(builder, buildRow);
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
    Value sum = rows.sum(b, 1,
                         [&](VectorBuilder &v, Value index, Value mask,
                             MutableArrayRef<Value> running) {
                           running[0] =
                               v.fma(v.load(dy, index, mask),
                                     v.load(y, index, mask), running[0]);
                         })
                    .front();
    Value shift = rows.vectors(b).splat(sum);
    Value dx = getRow(b, loc, op.getDx(), at, rows.getLength());
    rows.write(b, dx, {op.getY(), op.getDy()},
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
