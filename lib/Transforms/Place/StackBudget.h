//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Which frames fit the stack.

#ifndef POL_LIB_TRANSFORMS_PLACE_STACKBUDGET_H
#define POL_LIB_TRANSFORMS_PLACE_STACKBUDGET_H

#include "pol/Analysis/Provenance.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::pol {

/// Chooses frames for the stack, callees before callers and inner frames before
/// outer ones, so that no function needs more than `maxBytes` for its own and
/// its callees' together. Each call counts its callee anew, as if inlined: the
/// bound holds after inlining too. Where several calls add up to more, the
/// largest of their callees gives way. Functions that are recursive, or whose
/// address is taken, get none.
class StackBudget {
public:
  StackBudget(ModuleOp module, const Provenance &provenance, int64_t maxBytes);

  bool isOnStack(FrameOp frame) const { return frames.contains(frame); }

  /// Alignment of stack buffers: a cache line, and the widest vectors.
  static constexpr int64_t alignment = 64;

private:
  /// Chooses anew, with the functions barred by now.
  void choose(ModuleOp module);
  void visit(func::FuncOp function);
  /// Bars a function because of which another needs too much.
  bool barOneOfTooMany(ModuleOp module);
  SmallVector<func::FuncOp> getCallees(func::FuncOp function);

  const Provenance &provenance;
  SymbolTableCollection symbols;
  int64_t maxBytes;
  DenseSet<Operation *> frames;
  /// Bytes of each function visited; those being visited are recursive when
  /// seen again.
  DenseMap<Operation *, uint64_t> bytes;
  /// Bytes of its own frames.
  DenseMap<Operation *, uint64_t> ownBytes;
  DenseSet<Operation *> visiting, barred;
  /// Functions whose address is taken.
  SmallVector<func::FuncOp> indirect;
};

} // namespace mlir::pol

#endif // POL_LIB_TRANSFORMS_PLACE_STACKBUDGET_H
