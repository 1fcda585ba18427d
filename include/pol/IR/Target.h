//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The target that a module is compiled for.

#ifndef POL_IR_TARGET_H
#define POL_IR_TARGET_H

#include "pol/IR/PolTypes.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::pol {

/// The target of a processor, by the name that LLVM has for a level of x86-64
/// or, for any AArch64, `neon`; null if there is none of that name. Caches are
/// those of common machines.
TargetAttr getNamedTarget(MLIRContext *context, StringRef name);
/// The names.
ArrayRef<StringRef> getTargetNames();

/// The machine that this runs on, for so many workers.
TargetAttr getHostTarget(MLIRContext *context, int64_t maxWorkers);

/// What the module of an op carries in the place of a target, null if nothing.
Attribute lookupTargetEntry(Operation *op);
/// The target that the module of an op carries, null if it carries none.
TargetAttr lookupTarget(Operation *op);
/// The same, or that of x86-64-v3.
TargetAttr getTarget(Operation *op);
/// Sets it, or removes it if it is null.
void setTarget(Operation *module, TargetAttr target);

} // namespace mlir::pol

#endif // POL_IR_TARGET_H
