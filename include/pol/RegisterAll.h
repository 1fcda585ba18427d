//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The one entry point for everything pol has.

#ifndef POL_REGISTERALL_H
#define POL_REGISTERALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::pol {

/// Registers the dialect, its implementations of upstream interfaces, and the
/// dialects and interfaces that its pipelines need.
void registerAllDialects(DialectRegistry &registry);

/// Registers pol's passes and pipelines with the global pass registry. Call it
/// once in a process.
void registerAllPasses();

/// Both.
void registerAll(DialectRegistry &registry);

} // namespace mlir::pol

#endif // POL_REGISTERALL_H
