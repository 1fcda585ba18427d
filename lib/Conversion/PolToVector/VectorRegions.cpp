//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Regions of scalar code, evaluated for many lanes at a time.

#include "VectorRegions.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::pol;

static Value splat(OpBuilder &builder, Location loc, Value value,
                   int64_t lanes) {
  if (isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get(lanes, value.getType()), value);
}

/// An op that maps elements to elements maps vectors to vectors.
static void evaluateAtOnce(OpBuilder &builder, Location loc, Operation &op,
                           IRMapping &values, int64_t lanes) {
  IRMapping vectors;
  for (Value operand : op.getOperands())
    vectors.map(operand, splat(builder, loc, values.lookup(operand), lanes));
  Operation *copy = builder.clone(op, vectors);
  for (auto [result, copied] : llvm::zip(op.getResults(), copy->getResults())) {
    copied.setType(VectorType::get(lanes, result.getType()));
    values.map(result, copied);
  }
}

static void evaluateByLane(OpBuilder &builder, Location loc, Operation &op,
                           IRMapping &values, int64_t lanes) {
  SmallVector<SmallVector<Value>> results(op.getNumResults());
  for (int64_t lane = 0; lane < lanes; ++lane) {
    IRMapping scalars;
    for (Value operand : op.getOperands()) {
      Value value = values.lookup(operand);
      if (isa<VectorType>(value.getType()))
        value = vector::ExtractOp::create(builder, loc, value, lane);
      scalars.map(operand, value);
    }
    Operation *copy = builder.clone(op, scalars);
    for (auto [list, copied] : llvm::zip(results, copy->getResults()))
      list.push_back(copied);
  }
  for (auto [result, list] : llvm::zip(op.getResults(), results))
    values.map(result,
               vector::FromElementsOp::create(
                   builder, loc, VectorType::get(lanes, result.getType()), list)
                   .getResult());
}

Value mlir::pol::evaluateLanes(OpBuilder &builder, Location loc, Block &block,
                               ValueRange arguments, int64_t lanes) {
  IRMapping values;
  values.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator()) {
    bool isUniform = llvm::none_of(op.getOperands(), [&](Value operand) {
      return isa<VectorType>(values.lookup(operand).getType());
    });
    if (isUniform) {
      builder.clone(op, values);
      continue;
    }
    if (OpTrait::hasElementwiseMappableTraits(&op))
      evaluateAtOnce(builder, loc, op, values, lanes);
    else
      evaluateByLane(builder, loc, op, values, lanes);
  }
  return values.lookup(block.getTerminator()->getOperand(0));
}
