//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Regions of scalar code, evaluated for many lanes at a time.

#ifndef POL_LIB_CONVERSION_POLTOVECTOR_VECTORREGIONS_H
#define POL_LIB_CONVERSION_POLTOVECTOR_VECTORREGIONS_H

#include "mlir/IR/Builders.h"

namespace mlir::pol {

/// What a block without effects yields, evaluated for so many lanes: its
/// arguments are scalars, the same for all lanes, or vectors of them. The
/// result is a scalar where it depends on no vector. Ops that vectors cannot be
/// given to, loads among them, are evaluated lane by lane.
Value evaluateLanes(OpBuilder &builder, Location loc, Block &block,
                    ValueRange arguments, int64_t lanes);

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOVECTOR_VECTORREGIONS_H
