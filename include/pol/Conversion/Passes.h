//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_CONVERSION_PASSES_H
#define POL_CONVERSION_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::pol {

#define GEN_PASS_DECL
#include "pol/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pol/Conversion/Passes.h.inc"

} // namespace mlir::pol

#endif // POL_CONVERSION_PASSES_H
