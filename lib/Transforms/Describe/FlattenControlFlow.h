//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How bundles dissolve in the control flow that carries them.

#ifndef POL_LIB_TRANSFORMS_DESCRIBE_FLATTENCONTROLFLOW_H
#define POL_LIB_TRANSFORMS_DESCRIBE_FLATTENCONTROLFLOW_H

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::pol {
/// Whether an op of another dialect can have bundles as operands or results.
bool canCarryBundles(Operation *op);

/// Whether nothing of an op is left to dissolve.
bool isFlat(Operation *op, const TypeConverter &converter);

void populateFlattenControlFlowPatterns(RewritePatternSet &patterns,
                                        const TypeConverter &converter,
                                        ConversionTarget &target);
} // namespace mlir::pol

#endif // POL_LIB_TRANSFORMS_DESCRIBE_FLATTENCONTROLFLOW_H
