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
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::pol;

/// Steps that are summed by themselves, the products of the lesser number one
/// after the other: an addend goes through 64 additions, 32 more, and one for
/// each 2048 steps.
static constexpr int64_t kBlocks[] = {2048, 64};

SmallVector<Value> RegisterTile::sum(OpBuilder &builder, IndexRange steps,
                                     NumberFn number, VectorFn vector) const {
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
  SmallVector<Value> zeros(getSize(),
                           VectorBuilder{builder, loc, type}.constant(0.0));
  auto loop = scf::ForOp::create(
      builder, loc, steps.begin, steps.end,
      arith::ConstantIndexOp::create(builder, loc, 1), zeros, build);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> RegisterTile::sumBlocks(OpBuilder &builder, IndexRange steps,
                                           NumberFn number,
                                           VectorFn vector) const {
  ArrayRef<int64_t> blocks(kBlocks);
  std::optional<int64_t> begin = getConstantIntValue(steps.begin);
  std::optional<int64_t> end = getConstantIntValue(steps.end);
  // Two blocks of the least size are as good as one.
  while (begin && end && !blocks.empty() &&
         *end - *begin <= (blocks.size() == 1 ? 2 : 1) * blocks.front())
    blocks = blocks.drop_front();
  return sumBlocks(builder, steps, blocks, number, vector);
}

SmallVector<Value> RegisterTile::sumBlocks(OpBuilder &builder, IndexRange steps,
                                           ArrayRef<int64_t> blocks,
                                           NumberFn number,
                                           VectorFn vector) const {
  if (blocks.empty())
    return sum(builder, steps, number, vector);
  auto build = [&](OpBuilder &b, Location, Value first, ValueRange running) {
    IndexRange part = buildBlock(b, loc, first, steps.end, blocks.front());
    SmallVector<Value> sums =
        sumBlocks(b, part, blocks.drop_front(), number, vector);
    VectorBuilder v{b, loc, type};
    for (auto [sum, total] : llvm::zip(sums, running))
      sum = v.add(total, sum);
    scf::YieldOp::create(b, loc, sums);
  };
  SmallVector<Value> zeros(getSize(),
                           VectorBuilder{builder, loc, type}.constant(0.0));
  auto loop = scf::ForOp::create(
      builder, loc, steps.begin, steps.end,
      arith::ConstantIndexOp::create(builder, loc, blocks.front()), zeros,
      build);
  return SmallVector<Value>(loop.getResults());
}
