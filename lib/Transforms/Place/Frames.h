//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Taking frames apart.

#ifndef POL_LIB_TRANSFORMS_PLACE_FRAMES_H
#define POL_LIB_TRANSFORMS_PLACE_FRAMES_H

#include "pol/IR/PolOps.h"

namespace mlir::pol {

/// Where a stack buffer lives: the entry of the function, or of the body that
/// each worker of a parallel region runs.
Block *getStackBlock(Operation *op);

/// Makes an allocation one on the stack, at the builder's insertion point.
void moveToStack(AllocOp alloc, OpBuilder &builder);

/// The space behind a frame takes its place, under the frame's type where one
/// is asked for.
void replaceFrameUses(FrameOp frame, OpBuilder &builder);

/// The body of a frame that nothing uses takes its place.
void inlineFrame(FrameOp frame);

} // namespace mlir::pol

#endif // POL_LIB_TRANSFORMS_PLACE_FRAMES_H
