//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Gradients of functions, as of the regions that kernels have.

#include "TestPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/Pass.h"
#include "pol/Differentiation/ReverseMode.h"
#include "pol/IR/RegionActivity.h"

using namespace mlir;
using namespace mlir::pol;

/// The arguments of a function whose gradients are wanted: floats and arrays of
/// floats that are not marked as constants.
static SmallVector<unsigned> getWanted(func::FuncOp function) {
  SmallVector<unsigned> wanted;
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
    if (isa<FloatType>(getElementTypeOrSelf(type)) &&
        !function.getArgAttr(number, "test.constant"))
      wanted.push_back(number);
  return wanted;
}

/// Adds a load's cotangent to the entry of the destination that it is of.
static void accumulate(OpBuilder &builder, Location loc,
                       const RegionGradient::Load &load, Value destination) {
  Value sum = memref::LoadOp::create(builder, loc, destination, load.indices);
  Value cotangent = load.cotangent;
  if (cotangent.getType() != sum.getType())
    cotangent = arith::ExtFOp::create(builder, loc, sum.getType(), cotangent);
  sum = arith::AddFOp::create(builder, loc, sum, cotangent);
  memref::StoreOp::create(builder, loc, sum, destination, load.indices);
}

/// Fills a declaration: it takes the function's arguments, a seed, and for each
/// array whose gradient is wanted a memref to add it to, of a type that is wide
/// enough. It returns the function's value, and the gradients of its numbers.
static void buildGradient(func::FuncOp function, func::FuncOp gradient) {
  SmallVector<unsigned> wanted = getWanted(function), captures;
  bool wantsInput = llvm::is_contained(wanted, 0u);
  llvm::copy_if(wanted, std::back_inserter(captures),
                [](unsigned number) { return number != 0; });
  Location loc = function.getLoc();
  Block *block = gradient.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(block);
  unsigned count = function.getNumArguments();
  RegionGradient result = buildRegionGradient(
      builder, function.getBody(), block->getArguments().take_front(count),
      block->getArgument(count), wantsInput, captures);

  DenseMap<unsigned, Value> destinations, numbers;
  unsigned next = count + 1;
  for (unsigned number : wanted)
    if (isa<ShapedType>(function.getArgumentTypes()[number]))
      destinations[number] = block->getArgument(next++);
  numbers[0] = result.input;
  for (const RegionGradient::Load &load : result.loads) {
    if (load.op)
      accumulate(builder, loc, load, destinations[load.capture]);
    else
      numbers[load.capture] = load.cotangent;
  }
  SmallVector<Value> returned = {result.value};
  for (unsigned number : wanted) {
    Type type = function.getArgumentTypes()[number];
    if (isa<ShapedType>(type))
      continue;
    Value value = numbers.lookup(number);
    if (!value)
      value =
          arith::ConstantOp::create(builder, loc, FloatAttr::get(type, 0.0));
    returned.push_back(value);
  }
  func::ReturnOp::create(builder, loc, returned);
}

namespace {
/// Fills declarations with the attribute `test.gradient_of`.
struct TestRegionGradient
    : PassWrapper<TestRegionGradient, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestRegionGradient)

  StringRef getArgument() const override { return "test-pol-region-gradient"; }
  StringRef getDescription() const override {
    return "Fill declarations of functions with the gradients of others";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, memref::MemRefDialect>();
  }
  void runOnOperation() override {
    for (auto gradient : getOperation().getOps<func::FuncOp>()) {
      auto name =
          gradient->getAttrOfType<FlatSymbolRefAttr>("test.gradient_of");
      if (!name)
        continue;
      auto function = getOperation().lookupSymbol<func::FuncOp>(name.getAttr());
      SmallVector<unsigned> wanted = getWanted(function);
      Operation *op = findUndifferentiable(function.getBody(), false, wanted);
      if (!op) {
        buildGradient(function, gradient);
        continue;
      }
      op->emitError("expected ops with derivatives on the way from the "
                    "arguments to the result, but got '")
          << op->getName() << "'";
      signalPassFailure();
    }
  }
};
} // namespace

void mlir::pol::test::registerTestRegionGradient() {
  PassRegistration<TestRegionGradient>();
}
