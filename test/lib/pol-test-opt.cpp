//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// pol-opt with the test dialect.

#include "TestPasses.h"
#include "TestPolDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "pol/RegisterAll.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllPasses();
  mlir::pol::registerAll(registry);
  mlir::pol::test::registerTestAttentionVariants();
  mlir::pol::test::registerTestExpandScale();
  mlir::pol::test::registerTestRegionGradient();
  mlir::pol::test::registerTestMasks();
  registry.insert<mlir::pol::test::TestPolDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "pol-opt with a dialect of kernels for its tests\n",
      registry));
}
