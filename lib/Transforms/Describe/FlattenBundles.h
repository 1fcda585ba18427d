//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What values of pol's become.

#ifndef POL_LIB_TRANSFORMS_DESCRIBE_FLATTENBUNDLES_H
#define POL_LIB_TRANSFORMS_DESCRIBE_FLATTENBUNDLES_H

#include "mlir/Transforms/DialectConversion.h"
#include "pol/IR/PolOps.h"

namespace mlir::pol {
/// How many values a type becomes.
size_t getFlatSize(Type type);

/// The values of the primal among those of a duplicated value, and the rest,
/// which are those of the shadow.
ValueRange getPrimalValues(ValueRange values, DuplicatedType type);
ValueRange getShadowValues(ValueRange values, DuplicatedType type);

/// The dynamic extents of a description that has the shape of another array,
/// which has become `values`. With `checks`, those that the description makes
/// static are compared with it.
SmallVector<Value> takeExtents(OpBuilder &builder, Location loc,
                               ShapedType like, ValueRange values,
                               UndefType description, bool checks);

/// Reports operands of kernels that have become nothing a kernel can take.
LogicalResult verifyKernelOperands(Operation *kernel);

void populateFlattenDuplicatedPatterns(RewritePatternSet &patterns,
                                       const TypeConverter &converter,
                                       bool checks);
} // namespace mlir::pol

#endif // POL_LIB_TRANSFORMS_DESCRIBE_FLATTENBUNDLES_H
