//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/RegisterAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "pol/Conversion/Passes.h"
#include "pol/Conversion/PolToLLVM.h"
#include "pol/Differentiation/Derivatives.h"
#include "pol/IR/PolDialect.h"
#include "pol/Pipelines/Pipelines.h"
#include "pol/Transforms/BufferizableOpInterfaceImpl.h"
#include "pol/Transforms/Passes.h"

using namespace mlir;

void mlir::pol::registerAllDialects(DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  registry.insert<PolDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  registerConvertPolToLLVMInterface(registry);
  registerDerivatives(registry);
}

void mlir::pol::registerAllPasses() {
  registerPolTransformsPasses();
  registerPolConversionPasses();
  registerPolPipelines();
  registerPolToNVVM();
}

void mlir::pol::registerAll(DialectRegistry &registry) {
  pol::registerAllDialects(registry);
  pol::registerAllPasses();
}
