//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/IR/PolDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Conversion/ConvertToLLVM/ToLLVMInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "pol/IR/PolOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::pol;

#include "pol/IR/PolDialect.cpp.inc"
#include "pol/IR/PolEnums.cpp.inc"
#include "pol/IR/PolOpInterfaces.cpp.inc"
#include "pol/IR/PolTypeInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "pol/IR/PolAttributes.cpp.inc"

namespace {
struct PolInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  // Frames are scopes of their own, so a body may move into any region.
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
  void handleTerminator(Operation *, ValueRange) const final {}
};
} // namespace

Operation *PolDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                           Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

void PolDialect::initialize() {
  registerTypes();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "pol/IR/PolAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "pol/IR/PolOps.cpp.inc"
      >();
  addInterfaces<PolInlinerInterface>();
  declarePromisedInterface<ConvertToLLVMPatternInterface, PolDialect>();
}
