//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Where an op that works in place reads a buffer for the last time and writes
// another for the first, the two are one.

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "pol/Analysis/MemoryPlan.h"

using namespace mlir;
using namespace mlir::pol;

/// Whether an op reads an element of one operand before it writes the same one
/// of another, and no other after that.
static bool worksInPlace(Operation *op, OpOperand &input,
                         OpOperand &destination) {
  if (auto kernel = dyn_cast<KernelOpInterface>(op))
    return kernel.mayWorkInPlace(input, destination);
  auto generic = dyn_cast<linalg::LinalgOp>(op);
  return generic && generic.isDpsInput(&input) &&
         generic.isDpsInit(&destination) &&
         generic.getNumParallelLoops() == generic.getNumLoops() &&
         generic.getMatchingIndexingMap(&input) ==
             generic.getMatchingIndexingMap(&destination) &&
         generic.getMatchingIndexingMap(&input).isPermutation();
}

/// The operand that is all of an item's memory; null if there is none, or if
/// another one may be a part of it.
static OpOperand *getOnlyOperand(const Provenance &provenance, Operation *op,
                                 const MemoryItem &item) {
  auto alloc = dyn_cast<AllocOp>(item.op);
  if (!alloc)
    return nullptr;
  OpOperand *found = nullptr;
  bool isOnly = true;
  // What the op's body reads counts, too.
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands()) {
      if (!provenance.get(operand.get()).contains(alloc.getResult()))
        continue;
      isOnly &= !found && inner == op && operand.get() == alloc.getResult();
      found = &operand;
    }
  });
  return isOnly ? found : nullptr;
}

void mlir::pol::shareInPlace(const Provenance &provenance,
                             const ProgramPoints &points, MemoryScope &scope) {
  // The ops at which an item is used first, in this block.
  for (size_t i = 0; i < scope.items.size(); ++i) {
    MemoryItem &destination = scope.items[i];
    auto alloc = dyn_cast<AllocOp>(destination.op);
    if (!alloc)
      continue;
    for (Operation *user : alloc->getUsers()) {
      if (!destination.isUsed() || points.getStart(user) != destination.begin)
        continue;
      OpOperand *written = getOnlyOperand(provenance, user, destination);
      for (size_t j = 0; written && j < scope.items.size(); ++j) {
        MemoryItem &input = scope.items[j];
        if (input.end != points.getEnd(user) + 1 || input.escapes ||
            input.bytes != destination.bytes || !input.isUsed() || i == j)
          continue;
        OpOperand *read = getOnlyOperand(provenance, user, input);
        bool isTaken = llvm::any_of(scope.items, [&](const MemoryItem &other) {
          return other.inPlaceOf == static_cast<int64_t>(j);
        });
        if (!read || isTaken || !worksInPlace(user, *read, *written))
          continue;
        destination.inPlaceOf = j;
        break;
      }
    }
  }
}
