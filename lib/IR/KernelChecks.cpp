//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What kernels check at run time.

#include "pol/IR/Checks.h"

using namespace mlir;
using namespace mlir::pol;

void RmsNormOp::buildChecks(OpBuilder &builder) {
  Location loc = getLoc();
  StringRef kernel = getOperationName();
  SmallVector<OpFoldResult> shape;
  for (int64_t i = 0, e = cast<ShapedType>(getX().getType()).getRank(); i < e;
       ++i)
    shape.push_back(getKnownExtent(builder, loc, getX(), i));
  if (Value weight = getWeight())
    buildShapeCheck(builder, loc, weight, shape.back(), "weight", kernel);
  buildShapeCheck(builder, loc, getY(), shape, "y", kernel);
  if (Value rstd = getRstd())
    buildShapeCheck(builder, loc, rstd, ArrayRef(shape).drop_back(), "rstd",
                    kernel);
}
