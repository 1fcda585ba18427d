//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// mlir-opt with pol's dialect, passes and pipelines.

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "pol/RegisterAll.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllPasses();
  mlir::pol::registerAll(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv,
      "The pol optimizer: mlir-opt with pol's dialect, passes and "
      "pipelines\n",
      registry));
}
