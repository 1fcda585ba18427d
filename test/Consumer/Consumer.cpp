//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Uses of an installed pol: a kernel of one's own under pol's verbs, pol's
// pipeline on one of its kernels, and the runtime.

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "pol/IR/PolOps.h"
#include "pol/Pipelines/Pipelines.h"
#include "pol/RegisterAll.h"
#include "pol/Runtime/Arena.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// A dialect with a kernel
//===----------------------------------------------------------------------===//

#include "VendorDialect.h.inc"

#define GET_OP_CLASSES
#include "VendorOps.h.inc"

#include "VendorDialect.cpp.inc"

#define GET_OP_CLASSES
#include "VendorOps.cpp.inc"

void vendor::VendorDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "VendorOps.cpp.inc"
      >();
}

LogicalResult vendor::TwiceOp::inferBuffers(
    pol::KernelInvocation invocation,
    SmallVectorImpl<pol::BufferDescription> &buffers) {
  MLIRContext *context = invocation.loc.getContext();
  auto x = cast<ShapedType>(invocation.getOperand(0).getType());
  auto type = pol::UndefType::get(context, x.getShape(), x.getElementType());
  buffers.push_back(
      {StringAttr::get(context, "y"), pol::BufferRole::Output, type});
  buffers.push_back(
      {StringAttr::get(context, "tmp"), pol::BufferRole::Scratch, type});
  return success();
}

LogicalResult vendor::TwiceOp::reifyBufferShapes(
    OpBuilder &builder, pol::KernelInvocation invocation,
    SmallVectorImpl<SmallVector<OpFoldResult>> &shapes) {
  Value x = invocation.getOperand(0);
  SmallVector<OpFoldResult> shape;
  for (int64_t i = 0, e = cast<ShapedType>(x.getType()).getRank(); i < e; ++i)
    shape.push_back(pol::getExtent(builder, invocation.loc, x, i));
  shapes.assign(2, shape);
  return success();
}

FailureOr<Operation *> vendor::TwiceOp::buildKernel(
    OpBuilder &builder, pol::KernelInvocation invocation, ValueRange buffers) {
  return TwiceOp::create(builder, invocation.loc, buffers[0].getType(),
                         invocation.getOperand(0), buffers[0], buffers[1])
      .getOperation();
}

//===----------------------------------------------------------------------===//
// What is tried
//===----------------------------------------------------------------------===//

static LogicalResult complain(StringRef message) {
  llvm::errs() << "consumer: " << message << "\n";
  return failure();
}

/// The number of ops of that name in the module.
static int count(ModuleOp module, StringRef name) {
  int found = 0;
  module.walk([&](Operation *op) {
    found += op->getName().getStringRef() == name ? 1 : 0;
  });
  return found;
}

/// The verbs ask the vendor's op, which pol does not know, and call it.
static LogicalResult tryOwnKernel(MLIRContext &context) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"mlir(
    func.func @f(%arena: !pol.arena, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %spec = pol.outputs "vendor.twice"(%x)
          : (tensor<?x4xf32>) -> !pol.bundle<{y: !pol.undef<?x4xf32>}>
      %out = pol.alloc %arena, %spec
          : !pol.arena, !pol.bundle<{y: !pol.undef<?x4xf32>}>
          -> !pol.bundle<{y: tensor<?x4xf32>}>
      %r = pol.frame on %arena : !pol.arena -> tensor<?x4xf32> {
      ^bb0(%frame: !pol.frame):
        %tmp = pol.scratch "vendor.twice"(%x) in %frame
            : (tensor<?x4xf32>), !pol.frame
            -> !pol.bundle<{tmp: tensor<?x4xf32>}>
        %0 = pol.call "vendor.twice"(%x) outputs(%out) scratch(%tmp)
            : (tensor<?x4xf32>), !pol.bundle<{y: tensor<?x4xf32>}>,
              !pol.bundle<{tmp: tensor<?x4xf32>}> -> tensor<?x4xf32>
        pol.yield %0 : tensor<?x4xf32>
      }
      return %r : tensor<?x4xf32>
    })mlir",
                                                             &context);
  if (!module)
    return complain("the module with a kernel of its own does not parse");
  PassManager pm(&context);
  pol::PipelineOptions options;
  pol::buildDescribeStage(pm, options);
  if (failed(pm.run(*module)))
    return complain("the describe stage failed");
  if (count(*module, "vendor.twice") != 1 || count(*module, "pol.alloc") != 2 ||
      count(*module, "pol.outputs") != 0)
    return complain("expected one vendor.twice on two allocations");
  return success();
}

/// pol's own kernel goes down to LLVM, by the pipeline's name.
static LogicalResult tryPipeline(MLIRContext &context) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"mlir(
    func.func @norm(%arena: !pol.arena, %x: tensor<8x64xf32>,
                    %w: tensor<64xf32>) -> tensor<8x64xf32> {
      %y = pol.apply "pol.rms_norm"(%x, %w) {eps = 1.0e-6 : f64} in %arena
          : (tensor<8x64xf32>, tensor<64xf32>), !pol.arena -> tensor<8x64xf32>
      return %y : tensor<8x64xf32>
    })mlir",
                                                             &context);
  if (!module)
    return complain("the module with pol.rms_norm does not parse");
  PassManager pm(&context);
  if (failed(parsePassPipeline("pol-to-llvm", pm)) || failed(pm.run(*module)))
    return complain("pol-to-llvm failed");
  if (!module->lookupSymbol<LLVM::LLVMFuncOp>("pol_entry_norm"))
    return complain("expected an entry point pol_entry_norm");
  return success();
}

static LogicalResult tryRuntime() {
  alignas(POL_DEFAULT_ALIGNMENT) static char slab[1024];
  pol_arena arena;
  if (pol_arena_init(&arena, slab, sizeof(slab), 0) != POL_OK)
    return complain("expected an arena");
  if (pol_arena_carve(&arena, 1000, 0) != slab ||
      pol_arena_carve(&arena, 1000, 0) != nullptr)
    return complain("expected one of two carves to fit");
  if (pol_last_error()->code != POL_OUT_OF_MEMORY)
    return complain("expected the second carve to be out of memory");
  return success();
}

int main() {
  DialectRegistry registry;
  pol::registerAll(registry);
  registry.insert<vendor::VendorDialect>();
  MLIRContext context(registry);
  if (failed(tryOwnKernel(context)) || failed(tryPipeline(context)) ||
      failed(tryRuntime()))
    return 1;
  llvm::outs() << "consumer: a kernel, a pipeline and an arena work\n";
  return 0;
}
