//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Turns each outermost parallel loop over a GPU's memory into a launch.

#include "GlobalMemory.h"
#include "WorkgroupMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "pol/Analysis/Provenance.h"
#include "pol/Conversion/Passes.h"
#include "pol/IR/PolDialect.h"

namespace mlir::pol {
#define GEN_PASS_DEF_MAPPARALLELLOOPSTOGPU
#include "pol/Conversion/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// Whether anything in a region names memory of the GPU.
static bool usesGlobalMemory(Operation *op) {
  return op
      ->walk([](Operation *nested) {
        return llvm::any_of(nested->getOperandTypes(), isInGlobalMemory)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The parallel loops that become kernels: those around all others.
static SmallVector<scf::ParallelOp> getOutermostLoops(ModuleOp module) {
  SmallVector<scf::ParallelOp> loops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::LaunchOp, gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    auto loop = dyn_cast<scf::ParallelOp>(op);
    if (!loop)
      return WalkResult::advance();
    if (usesGlobalMemory(loop))
      loops.push_back(loop);
    return WalkResult::skip();
  });
  return loops;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Functions run on the host: what a loop calls becomes part of it.
static LogicalResult inlineCall(func::CallOp call,
                                SymbolTableCollection &symbols) {
  auto callee =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return call.emitOpError("expected a callee with a body of structured "
                            "control flow in a loop that runs on the GPU, but "
                            "got ")
           << call.getCalleeAttr();
  OpBuilder builder(call);
  IRMapping mapping;
  mapping.map(callee.getArguments(), call.getOperands());
  Block &body = callee.getBody().front();
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
  return success();
}

/// Whether a function is among those that it calls, however indirectly.
static bool isRecursive(func::FuncOp function, SymbolTableCollection &symbols) {
  SmallVector<func::FuncOp> worklist{function};
  DenseSet<Operation *> reached;
  while (!worklist.empty())
    worklist.pop_back_val().walk([&](func::CallOp call) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
          call, call.getCalleeAttr());
      if (callee && reached.insert(callee).second)
        worklist.push_back(callee);
    });
  return reached.contains(function);
}

/// Inlines all calls in a loop. Each callee goes to `callees`.
static LogicalResult inlineCalls(scf::ParallelOp loop,
                                 SymbolTableCollection &symbols,
                                 SetVector<Operation *> &callees) {
  while (true) {
    func::CallOp next;
    loop.walk([&](func::CallOp call) {
      next = call;
      return WalkResult::interrupt();
    });
    if (!next)
      return success();
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        next, next.getCalleeAttr());
    if (callee && isRecursive(callee, symbols))
      return next.emitOpError("expected a callee that does not call itself in "
                              "a loop that runs on the GPU, but got ")
             << next.getCalleeAttr();
    if (failed(inlineCall(next, symbols)))
      return failure();
    callees.insert(callee);
  }
}

//===----------------------------------------------------------------------===//
// Linalg
//===----------------------------------------------------------------------===//

/// Puts a loop of one trip around an op that has none of its own that is
/// parallel.
static void wrapInLoop(linalg::LinalgOp op, RewriterBase &rewriter) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  auto loop = scf::ParallelOp::create(rewriter, loc, ValueRange(zero),
                                      ValueRange(one), ValueRange(one),
                                      [](OpBuilder &, Location, ValueRange) {});
  rewriter.moveOpBefore(op, loop.getBody(), loop.getBody()->begin());
}

/// Lowers what works on memory of the GPU, and all in loops that do, to loops:
/// copies and linalg operations. Those that are in no loop get a parallel one.
static LogicalResult lowerLinalg(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp copy) {
    if (usesGlobalMemory(copy) && isa<MemRefType>(copy.getSource().getType()) &&
        isa<MemRefType>(copy.getTarget().getType()))
      copies.push_back(copy);
  });
  for (memref::CopyOp copy : copies) {
    rewriter.setInsertionPoint(copy);
    linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    rewriter.eraseOp(copy);
  }

  SmallVector<linalg::LinalgOp> ops;
  module.walk([&](linalg::LinalgOp op) {
    if (op.hasPureBufferSemantics() &&
        (getEnclosingParallel(op) || usesGlobalMemory(op)))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops) {
    bool isInParallel = getEnclosingParallel(op);
    if (!isInParallel && op.getNumParallelLoops() == 0)
      wrapInLoop(op, rewriter);
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::LinalgLoops> loops =
        isInParallel ? linalg::linalgOpToLoops(rewriter, op)
                     : linalg::linalgOpToParallelLoops(rewriter, op);
    if (failed(loops))
      return op.emitOpError("expected to be expressible as loops");
    rewriter.eraseOp(op);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Private memory
//===----------------------------------------------------------------------===//

/// Gives a buffer, and all views of it, a type in default memory. On a GPU that
/// is what a pointer to a thread's own stack is in.
static LogicalResult makePrivate(Value buffer) {
  auto memref = cast<MemRefType>(buffer.getType());
  if (!memref.getMemorySpace())
    return success();
  buffer.setType(MemRefType::get(memref.getShape(), memref.getElementType(),
                                 memref.getLayout()));
  for (Operation *user : buffer.getUsers()) {
    bool isView =
        isa<ViewLikeOpInterface>(user) && !isa<memref::MemorySpaceCastOp>(user);
    bool isPassedOn =
        isa<RegionBranchOpInterface, RegionBranchTerminatorOpInterface>(user) ||
        (!isView &&
         llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>));
    if (isPassedOn)
      return user->emitOpError("expected a buffer of a frame in a loop that "
                               "runs on the GPU to be used directly or through "
                               "views, but got one that is passed on");
    for (Value result : user->getResults())
      if (isa<MemRefType>(result.getType()) && failed(makePrivate(result)))
        return failure();
  }
  return success();
}

/// Moves each stack buffer of a kernel to its entry: it is static there, and no
/// trip of a loop adds to the stack.
static LogicalResult hoistBuffers(gpu::LaunchOp launch) {
  SmallVector<memref::AllocaOp> buffers;
  launch.walk([&](memref::AllocaOp buffer) { buffers.push_back(buffer); });
  Block &entry = launch.getBody().front();
  for (memref::AllocaOp buffer : buffers) {
    if (!buffer.getType().hasStaticShape())
      return buffer.emitOpError("expected a buffer of static size on the stack "
                                "of a loop that runs on the GPU, but got ")
             << buffer.getType();
    buffer->moveBefore(&entry, entry.begin());
    if (failed(makePrivate(buffer)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// A loop can run on the GPU if all it needs is there.
static LogicalResult verifyLoop(scf::ParallelOp loop) {
  if (loop.getNumReductions())
    return loop.emitOpError("expected a loop that runs on the GPU to have no "
                            "reduction, but got ")
           << loop.getNumReductions();
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop.getRegion(), captured);
  for (Value value : captured)
    if (isa<BaseMemRefType>(value.getType()) &&
        !isInGlobalMemory(value.getType()))
      return loop.emitOpError("expected a loop that runs on the GPU to use "
                              "memory of the GPU only, but got ")
             << value.getType();
  WalkResult result = loop.walk([&](Operation *op) {
    if (!isa_and_nonnull<PolDialect>(op->getDialect()) &&
        !isa<CallOpInterface, memref::AllocOp, memref::GetGlobalOp>(op))
      return WalkResult::advance();
    InFlightDiagnostic error =
        loop.emitOpError("expected a loop that runs on the GPU to hold what "
                         "can run there, but got '");
    error << op->getName() << "'";
    error.attachNote(op->getLoc()) << "it is here";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
/// A parallel loop on its way to a launch: as many threads as it has trips,
/// rounded up to whole blocks.
class Launch {
public:
  Launch(scf::ParallelOp loop, int64_t blockSize, bool useWorkgroupMemory)
      : loop(loop), loc(loop.getLoc()), builder(loop), blockSize(blockSize),
        useWorkgroupMemory(useWorkgroupMemory) {}

  LogicalResult build();

private:
  void countTrips();
  Value buildThread(gpu::LaunchOp launch);
  void moveBody(Value thread);

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  scf::ParallelOp loop;
  Location loc;
  OpBuilder builder;
  int64_t blockSize;
  bool useWorkgroupMemory;
  /// Trips of each dimension, and of all together.
  SmallVector<Value> counts;
  Value total;
};
} // namespace

void Launch::countTrips() {
  Value zero = constant(0);
  for (auto [lower, upper, step] : llvm::zip_equal(
           loop.getLowerBound(), loop.getUpperBound(), loop.getStep())) {
    Value range = builder.createOrFold<arith::SubIOp>(loc, upper, lower);
    Value count = builder.createOrFold<arith::CeilDivSIOp>(loc, range, step);
    counts.push_back(builder.createOrFold<arith::MaxSIOp>(loc, count, zero));
  }
  total = counts.front();
  for (Value count : llvm::drop_begin(counts))
    total = builder.createOrFold<arith::MulIOp>(loc, total, count);
}

/// The number of this thread among all of the launch.
Value Launch::buildThread(gpu::LaunchOp launch) {
  Value first = arith::MulIOp::create(builder, loc, launch.getBlockIds().x,
                                      constant(blockSize));
  return arith::AddIOp::create(builder, loc, first, launch.getThreadIds().x);
}

/// Moves what one trip does to the insertion point. The last dimension runs
/// fastest, so that neighbours are neighbours.
void Launch::moveBody(Value thread) {
  Block *body = loop.getBody();
  for (int64_t i = counts.size() - 1; i >= 0; --i) {
    Value trip = thread;
    if (i > 0) {
      trip = arith::RemUIOp::create(builder, loc, thread, counts[i]);
      thread = arith::DivUIOp::create(builder, loc, thread, counts[i]);
    }
    Value offset =
        builder.createOrFold<arith::MulIOp>(loc, trip, loop.getStep()[i]);
    body->getArgument(i).replaceAllUsesWith(builder.createOrFold<arith::AddIOp>(
        loc, loop.getLowerBound()[i], offset));
  }
  body->getTerminator()->erase();
  builder.getInsertionBlock()->getOperations().splice(
      builder.getInsertionPoint(), body->getOperations());
}

LogicalResult Launch::build() {
  countTrips();
  Value one = constant(1);
  Value size = constant(blockSize);
  Value blocks = builder.createOrFold<arith::CeilDivSIOp>(loc, total, size);
  // No grid is empty.
  Value any = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                    total, constant(0));
  auto guard = scf::IfOp::create(builder, loc, any, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(guard.thenBlock());
  auto launch =
      gpu::LaunchOp::create(builder, loc, blocks, one, one, size, one, one);
  builder.setInsertionPointToStart(&launch.getBody().front());
  Value thread = buildThread(launch);
  Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       thread, total);
  auto bound =
      scf::IfOp::create(builder, loc, exists, /*withElseRegion=*/false);
  gpu::TerminatorOp::create(builder, loc);
  builder.setInsertionPointToStart(bound.thenBlock());
  moveBody(thread);
  loop.erase();

  // A thread runs loops in it from beginning to end.
  SmallVector<scf::ParallelOp> inner;
  launch.walk([&](scf::ParallelOp op) { inner.push_back(op); });
  IRRewriter rewriter(builder.getContext());
  for (scf::ParallelOp op : inner) {
    if (op.getNumReductions())
      continue; // Lowered with the control flow.
    rewriter.setInsertionPoint(op);
    if (failed(scf::parallelForToNestedFors(rewriter, op)))
      return op.emitOpError("expected to be expressible as a loop in sequence");
  }
  if (useWorkgroupMemory && failed(moveToWorkgroupMemory(launch, blockSize)))
    return failure();
  return hoistBuffers(launch);
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// Reports what would read or write memory of the GPU from the host, or would
/// hide that it does.
static LogicalResult verifyHost(ModuleOp module) {
  WalkResult result = module.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isa<gpu::LaunchOp, gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    if (auto cast = dyn_cast<memref::MemorySpaceCastOp>(op);
        cast && isInGlobalMemory(cast.getSource().getType())) {
      op->emitOpError("expected memory of the GPU to keep its memory space on "
                      "the host, but got ")
          << cast.getType();
      return WalkResult::interrupt();
    }
    auto interface = dyn_cast<MemoryEffectOpInterface>(op);
    // Copies between the host and the GPU, for one, are operations of its own.
    if (!interface || isa<gpu::GPUDialect>(op->getDialect()))
      return WalkResult::advance();
    SmallVector<MemoryEffects::EffectInstance> effects;
    interface.getEffects(effects);
    for (const MemoryEffects::EffectInstance &effect : effects) {
      Value memory = effect.getValue();
      if (!memory || !isInGlobalMemory(memory.getType()) ||
          !isa<MemoryEffects::Read, MemoryEffects::Write>(effect.getEffect()))
        continue;
      op->emitOpError("expected access to ")
          << memory.getType()
          << " to be in a parallel loop, which runs on the GPU, but got one on "
             "the host";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct MapParallelLoopsToGPU
    : pol::impl::MapParallelLoopsToGPUBase<MapParallelLoopsToGPU> {
  using MapParallelLoopsToGPUBase::MapParallelLoopsToGPUBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (blockSize < 1 || blockSize > 1024) {
      emitError(module.getLoc())
          << "expected block-size to be between 1 and 1024, but got "
          << blockSize.getValue();
      return signalPassFailure();
    }
    if (workerMemory != "local" && workerMemory != "workgroup") {
      emitError(module.getLoc())
          << "expected worker-memory to be local or workgroup, but got '"
          << workerMemory << "'";
      return signalPassFailure();
    }
    if (failed(inlineCallsInLoops()) || failed(lowerLinalg(module)))
      return signalPassFailure();
    for (scf::ParallelOp loop : getOutermostLoops(module))
      if (failed(verifyLoop(loop)) ||
          failed(Launch(loop, blockSize, workerMemory == "workgroup").build()))
        return signalPassFailure();
    if (failed(verifyHost(module)))
      signalPassFailure();
  }

  LogicalResult inlineCallsInLoops() {
    SymbolTableCollection symbols;
    SetVector<Operation *> callees;
    for (scf::ParallelOp loop : getOutermostLoops(getOperation()))
      if (failed(inlineCalls(loop, symbols, callees)))
        return failure();
    // What only loops called has no other purpose, and may not run elsewhere.
    bool again = true;
    while (again) {
      again = false;
      for (Operation *op : llvm::make_early_inc_range(callees)) {
        auto function = cast<func::FuncOp>(op);
        if (!function.isPrivate() ||
            !SymbolTable::symbolKnownUseEmpty(function, getOperation()))
          continue;
        callees.remove(function);
        function.erase();
        again = true;
        break;
      }
    }
    return success();
  }
};
} // namespace
