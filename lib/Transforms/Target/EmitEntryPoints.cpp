//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Gives public functions a C wrapper that returns a status.

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "pol/Conversion/PolToLLVM.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_EMITENTRYPOINTS
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

static constexpr StringLiteral kPrefix = "pol_entry_";
static constexpr StringLiteral kCopyLastError = "pol_copy_last_error";

namespace {
class EntryPoint {
public:
  EntryPoint(func::FuncOp function, const LLVMTypeConverter &converter)
      : function(function), converter(converter),
        builder(function.getContext()), loc(function.getLoc()) {}

  LogicalResult emit();

private:
  LogicalResult convertSignature(SmallVectorImpl<Type> &inputs);
  Value loadArgument(Type type, Value argument);
  void storeResult(Value result, Value pointer);
  void emitFailure(ValueRange spaces, ValueRange marks, Value error);

  func::FuncOp function;
  const LLVMTypeConverter &converter;
  OpBuilder builder;
  Location loc;
  /// Results without the status, and whether there is one.
  SmallVector<Type> results;
  bool canFail = false;
};
} // namespace

static bool isDescriptor(Type type) { return isa<BaseMemRefType>(type); }

/// Descriptors go by pointer, all else as it is: an error record, a pointer for
/// each result, the arguments.
LogicalResult EntryPoint::convertSignature(SmallVectorImpl<Type> &inputs) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  results = llvm::to_vector(function.getResultTypes());
  // A function that can fail has a carve or a call of such a one below it, and
  // pol-thread-status has marked it.
  canFail = function->hasAttr("pol.fallible");
  if (canFail) {
    if (results.empty() || !results.back().isInteger(1))
      return function.emitError("expected a function that can fail to return a "
                                "status last, as pol-thread-status leaves it");
    results.pop_back();
  }
  inputs.append(1 + results.size(), pointer);
  for (Type type : function.getArgumentTypes())
    inputs.push_back(isDescriptor(type) ? pointer : type);
  for (Type type : llvm::concat<Type>(
           results, SmallVector<Type>(function.getArgumentTypes())))
    if (!converter.convertType(type))
      return function.emitError("expected types that C can pass, but got ")
             << type;
  return success();
}

Value EntryPoint::loadArgument(Type type, Value argument) {
  if (!isDescriptor(type))
    return argument;
  Value descriptor =
      LLVM::LoadOp::create(builder, loc, converter.convertType(type), argument);
  return UnrealizedConversionCastOp::create(builder, loc, type, descriptor)
      .getResult(0);
}

void EntryPoint::storeResult(Value result, Value pointer) {
  Type converted = converter.convertType(result.getType());
  if (converted != result.getType())
    result = UnrealizedConversionCastOp::create(builder, loc, converted, result)
                 .getResult(0);
  LLVM::StoreOp::create(builder, loc, result, pointer);
}

/// Leaves the error where the caller looks, and every space as it was. A
/// retract may fail itself, after a reset: that is not what went wrong.
void EntryPoint::emitFailure(ValueRange spaces, ValueRange marks, Value error) {
  auto copy = func::CallOp::create(builder, loc, kCopyLastError,
                                   builder.getI32Type(), error);
  for (auto [space, mark] : llvm::zip_equal(spaces, marks))
    RetractOp::create(builder, loc, builder.getI1Type(), space, mark);
  func::ReturnOp::create(builder, loc, copy.getResults());
}

LogicalResult EntryPoint::emit() {
  SmallVector<Type> inputs;
  if (failed(convertSignature(inputs)))
    return failure();
  builder.setInsertionPointAfter(function);
  auto entry = func::FuncOp::create(
      builder, loc, (kPrefix + function.getSymName()).str(),
      builder.getFunctionType(inputs, builder.getI32Type()));
  entry->setAttr("pol.entry", builder.getUnitAttr());
  Block *block = entry.addEntryBlock();
  builder.setInsertionPointToStart(block);

  Value error = block->getArgument(0);
  auto resultPointers = block->getArguments().slice(1, results.size());
  SmallVector<Value> arguments, spaces, marks;
  for (auto [type, argument] :
       llvm::zip_equal(function.getArgumentTypes(),
                       block->getArguments().drop_front(1 + results.size()))) {
    arguments.push_back(loadArgument(type, argument));
    if (isa<SpaceTypeInterface>(type))
      spaces.push_back(argument);
  }
  if (canFail) {
    // Buffers that no space argument covers come from the thread's heap.
    spaces.push_back(ThreadHeapOp::create(
        builder, loc, HeapType::get(builder.getContext(), Attribute())));
    for (Value space : spaces)
      marks.push_back(MarkOp::create(
          builder, loc, MarkType::get(builder.getContext()), space));
  }

  auto call = func::CallOp::create(builder, loc, function, arguments);
  if (canFail) {
    Block *success = builder.createBlock(&entry.getBody(), entry.end());
    Block *failure = builder.createBlock(&entry.getBody(), entry.end());
    emitFailure(spaces, marks, error);
    builder.setInsertionPointToEnd(block);
    cf::CondBranchOp::create(builder, loc, call.getResults().back(), success,
                             failure);
    builder.setInsertionPointToStart(success);
  }
  for (auto [result, pointer] :
       llvm::zip(call.getResults().take_front(results.size()), resultPointers))
    storeResult(result, pointer);
  Value zero =
      arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), 0);
  func::ReturnOp::create(builder, loc, zero);
  return success();
}

namespace {
struct EmitEntryPoints : pol::impl::EmitEntryPointsBase<EmitEntryPoints> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    LLVMTypeConverter converter(&getContext());
    populatePolToLLVMTypeConversions(converter);

    SmallVector<func::FuncOp> functions;
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal() &&
          !function->hasAttr("pol.entry"))
        functions.push_back(function);
    bool anyFallible = false;
    for (func::FuncOp function : functions) {
      if (Operation *taken =
              module.lookupSymbol((kPrefix + function.getSymName()).str())) {
        taken->emitOpError("expected the name of the entry point of @")
            << function.getSymName() << " to be free";
        return signalPassFailure();
      }
      anyFallible |= function->hasAttr("pol.fallible");
    }
    if (anyFallible && failed(declareCopyLastError()))
      return signalPassFailure();
    for (func::FuncOp function : functions)
      if (failed(EntryPoint(function, converter).emit()))
        return signalPassFailure();
  }

  LogicalResult declareCopyLastError() {
    ModuleOp module = getOperation();
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    FunctionType type = builder.getFunctionType(
        LLVM::LLVMPointerType::get(builder.getContext()), builder.getI32Type());
    if (Operation *known = module.lookupSymbol(kCopyLastError)) {
      auto function = dyn_cast<func::FuncOp>(known);
      if (function && function.getFunctionType() == type)
        return success();
      return known->emitOpError("expected @")
             << kCopyLastError << " to be the runtime's, a func.func of type "
             << type;
    }
    func::FuncOp::create(builder, module.getLoc(), kCopyLastError, type)
        .setPrivate();
    return success();
  }
};
} // namespace
