//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How attention is cut into tiles for a target, and what its workers need.

#ifndef POL_IR_ATTENTIONTILING_H
#define POL_IR_ATTENTIONTILING_H

#include "pol/IR/KernelSignature.h"
#include "pol/IR/Target.h"

namespace mlir::pol {

/// Queries are the lanes of vectors, so that what is computed for one of them,
/// its largest score for instance, is computed lane by lane. A register tile is
/// `rows` keys, or columns of a result, by `vectors` vectors of queries: as
/// many as there are registers for.
struct AttentionTiling {
  int64_t lanes, vectors, rows;
  /// Of a tile of scores. That of the gradients has no more keys than rows of
  /// registers can be filled with, of either kind.
  int64_t queries, keys, gradKeys;
  /// What is summed over queries, the gradients of keys and values, has columns
  /// as lanes: a register tile is then so many keys by vectors of columns.
  int64_t keyRows, columnVectors;
  /// Keys whose gradients are summed in a workspace, at most.
  int64_t summedKeys;

  AttentionTiling(TargetAttr target, FloatType accumulation);
};

/// Where things are in a worker's part of `workspace`, in elements.
struct AttentionWorkspace {
  /// q, transposed: [D, queries].
  OpFoldResult queries;
  /// The result, transposed: [Dv, queries]; and that of some tiles alone.
  OpFoldResult result, part;
  /// Scores, then weights: [keys, queries].
  OpFoldResult scores;
  OpFoldResult size;

  AttentionWorkspace(OpBuilder &builder, Location loc, TargetAttr target,
                     OpFoldResult depth, OpFoldResult valueDepth);
};

/// The same of attention's gradients.
struct AttentionGradWorkspace {
  /// q and dout, transposed: [D, queries] and [Dv, queries].
  OpFoldResult queries, cotangents;
  /// dq, transposed: [D, queries]; that of some keys alone, and of all.
  OpFoldResult result, total;
  /// Scores, then weights; their gradients: [gradKeys, queries] each.
  OpFoldResult scores, gradients;
  /// Sums of dk and dv: [3, summedKeys, D] and [3, summedKeys, Dv].
  OpFoldResult keySums, valueSums;
  /// No more than there are.
  OpFoldResult summedKeys;
  OpFoldResult size;

  AttentionGradWorkspace(OpBuilder &builder, Location loc, TargetAttr target,
                         OpFoldResult depth, OpFoldResult valueDepth,
                         OpFoldResult keys);
};

/// `W`, the workers that share a kernel, and `X`, how much each works in. Both
/// are of the target, and 0 where the module names none: the reference
/// expansion works in nothing.
extern const DerivedExtent kWorkspace[2], kGradWorkspace[2];

} // namespace mlir::pol

#endif // POL_IR_ATTENTIONTILING_H
