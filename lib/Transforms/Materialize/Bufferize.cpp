//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One-shot bufferization, with a report of what it adds.

#include "../HiddenBuffers.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_BUFFERIZE
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::bufferization;

static std::string getTypeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// What needs a buffer that is made at the builder's point.
static std::string getCause(OpBuilder &builder) {
  Block *block = builder.getInsertionBlock();
  if (!block || builder.getInsertionPoint() == block->end())
    return "";
  Operation *op = &*builder.getInsertionPoint();
  auto alloc = dyn_cast<AllocTensorOp>(op);
  bool isUsed = alloc && !alloc->use_empty();
  Operation *user = isUsed ? *alloc->getUsers().begin() : op;
  // Of users that are bufferized already.
  while (isUsed && isa<ToBufferOp>(user) && !user->use_empty())
    user = *user->getUsers().begin();
  std::string by = (", because '" + user->getName().getStringRef() + "'").str();
  if (!isUsed || user->hasTrait<OpTrait::IsTerminator>())
    return by + " takes a tensor that is in another place";
  // What upstream adds is where its user is.
  if (alloc.getCopy() || alloc.getLoc() == user->getLoc())
    return by + " writes to a tensor that is read later";
  return by + " uses a tensor that no pol.alloc made";
}

/// The buffers of upstream come from the thread's heap; pol-release-buffers
/// sees to it that they are freed.
static FailureOr<Value> allocateHidden(HiddenBuffers &hidden,
                                       OpBuilder &builder, Location loc,
                                       MemRefType type, ValueRange extents) {
  if (type.getMemorySpace()) {
    emitError(loc) << "expected a pol.alloc for a buffer of type " << type
                   << ": nothing else can allocate in its memory space";
    hidden.failed = true;
    return failure();
  }
  hidden.note(loc, "bufferization adds a buffer of type " + getTypeText(type) +
                       getCause(builder));
  Value heap = ThreadHeapOp::create(
      builder, loc, HeapType::get(builder.getContext(), Attribute()));
  return AllocOp::create(
             builder, loc, type, heap, Value(), extents, StringAttr(),
             StringAttr(),
             BufferRoleAttr::get(builder.getContext(), BufferRole::Hidden))
      .getResult();
}

static Attribute getMemorySpace(Value buffer) {
  return cast<BaseMemRefType>(buffer.getType()).getMemorySpace();
}

static bool isHidden(Value buffer) {
  auto alloc = buffer.getDefiningOp<AllocOp>();
  return alloc && alloc.getRole() == BufferRole::Hidden;
}

static OneShotBufferizationOptions getOptions(HiddenBuffers &hidden) {
  OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.allowReturnAllocsFromLoops = true;
  options.setFunctionBoundaryTypeConversion(LayoutMapOption::IdentityLayoutMap);
  options.unknownTypeConverterFn = [](TensorType type, Attribute memorySpace,
                                      const BufferizationOptions &) {
    return getMemRefTypeWithStaticIdentityLayout(type, memorySpace);
  };
  options.defaultMemorySpaceFn =
      [](TensorType type) -> std::optional<Attribute> {
    if (auto ranked = dyn_cast<RankedTensorType>(type))
      return ranked.getEncoding();
    return Attribute();
  };
  options.allocationFn = [&hidden](OpBuilder &builder, Location loc,
                                   MemRefType type, ValueRange extents,
                                   unsigned) {
    return allocateHidden(hidden, builder, loc, type, extents);
  };
  options.memCpyFn = [&hidden](OpBuilder &builder, Location loc, Value from,
                               Value to) {
    if (!isHidden(to) && !isHidden(from)) {
      memref::CopyOp::create(builder, loc, from, to);
      return success(); // The program's own, of tensor.insert_slice say.
    }
    if (getMemorySpace(from) != getMemorySpace(to)) {
      emitError(loc) << "expected one memory space, but got " << from.getType()
                     << " where a buffer of type " << to.getType()
                     << " is expected";
      hidden.failed = true;
    } else {
      hidden.note(loc, "bufferization adds a copy of type " +
                           getTypeText(from.getType()));
    }
    memref::CopyOp::create(builder, loc, from, to);
    return success();
  };
  return options;
}

//===----------------------------------------------------------------------===//
// Before and after
//===----------------------------------------------------------------------===//

/// A cast that changes the encoding would change the memory space without a
/// copy.
static LogicalResult checkMemorySpaceCasts(ModuleOp module) {
  WalkResult result = module.walk([](tensor::CastOp cast) {
    auto from = dyn_cast<RankedTensorType>(cast.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(cast.getType());
    if (!from || !to || from.getEncoding() == to.getEncoding())
      return WalkResult::advance();
    cast.emitOpError("expected source and result in one memory space, but "
                     "got ")
        << from << " and " << to;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// Calls `check` for every type in the module, whatever it is part of.
static WalkResult walkTypes(ModuleOp module,
                            function_ref<WalkResult(Operation *, Type)> check) {
  return module.walk([&](Operation *op) {
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      types.push_back(function.getFunctionType());
    for (Type type : types)
      if (type.walk([&](Type part) { return check(op, part); })
              .wasInterrupted())
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
}

/// An encoding becomes a memory space: it has to be one.
static LogicalResult checkEncodings(ModuleOp module) {
  WalkResult result = walkTypes(module, [](Operation *op, Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto emit = [&]() -> InFlightDiagnostic {
      InFlightDiagnostic error = op->emitError();
      error << type << ": ";
      return error;
    };
    return !tensor || succeeded(verifyMemorySpace(emit, tensor.getEncoding()))
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult checkLeftovers(ModuleOp module) {
  WalkResult result = walkTypes(module, [](Operation *op, Type type) {
    if (!isa<TensorType>(type))
      return WalkResult::advance();
    op->emitError("expected '")
        << op->getName() << "' to bufferize, but tensors remain";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct Bufferize : pol::impl::BufferizeBase<Bufferize> {
  using BufferizeBase::BufferizeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkEncodings(module)) || failed(checkMemorySpaceCasts(module)))
      return signalPassFailure();
    // A failure inside a callback can get lost on the way out of upstream's
    // driver, so it is kept here.
    HiddenBuffers hidden{strict, reportHidden};
    OneShotBufferizationOptions options = getOptions(hidden);
    BufferizationState state;
    if (failed(runOneShotModuleBufferize(module, options, state)) ||
        hidden.failed || failed(checkLeftovers(module)))
      return signalPassFailure();
  }
};
} // namespace
