//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sums of products, held in registers.

#include "RegisterTile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pol;

SmallVector<Value> RegisterTile::accumulate(OpBuilder &builder,
                                            IndexRange steps, ValueRange sums,
                                            NumberFn number,
                                            VectorFn vector) const {
  auto build = [&](OpBuilder &b, Location, Value step, ValueRange running) {
    VectorBuilder v{b, loc, type};
    SmallVector<Value> factors;
    for (int64_t i = 0; i < vectors; ++i)
      factors.push_back(vector(b, step, i));
    SmallVector<Value> next;
    for (int64_t row = 0; row < rows; ++row) {
      Value splat = v.splat(number(b, step, row));
      for (int64_t i = 0; i < vectors; ++i)
        next.push_back(v.fma(splat, factors[i], running[row * vectors + i]));
    }
    scf::YieldOp::create(b, loc, next);
  };
  auto loop = scf::ForOp::create(
      builder, loc, steps.begin, steps.end,
      arith::ConstantIndexOp::create(builder, loc, 1), sums, build);
  return SmallVector<Value>(loop.getResults());
}
