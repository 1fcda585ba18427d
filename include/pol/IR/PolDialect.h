//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_POLDIALECT_H
#define POL_IR_POLDIALECT_H

#include "mlir/IR/Dialect.h"

#include "pol/IR/PolDialect.h.inc"

#endif // POL_IR_POLDIALECT_H
