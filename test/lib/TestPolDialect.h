//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_TEST_LIB_TESTPOLDIALECT_H
#define POL_TEST_LIB_TESTPOLDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pol/IR/DifferentiableOpInterface.h"
#include "pol/IR/PolInterfaces.h"

#include "TestPolDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "TestPolTypes.h.inc"

#define GET_OP_CLASSES
#include "TestPolOps.h.inc"

namespace mlir::pol::test {
void registerTestExpandScale();
void registerTestMasks();
} // namespace mlir::pol::test

#endif // POL_TEST_LIB_TESTPOLDIALECT_H
