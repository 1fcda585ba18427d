//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Compares at run time what kernels' verifiers cannot see.

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "pol/Analysis/Fallible.h"
#include "pol/Analysis/Provenance.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_EMITCHECKS
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

static bool canMove(Operation *op) {
  return isPure(op) && op->getNumRegions() == 0;
}

//===----------------------------------------------------------------------===//
// Within a block
//===----------------------------------------------------------------------===//

namespace {
/// Moves checks up in their block, in the order in which they come.
class CheckRaiser {
public:
  void raise(CheckOp check);

private:
  /// The last check that stands at the start of a block, or after an op.
  DenseMap<Block *, Operation *> lastAtStart;
  DenseMap<Operation *, Operation *> lastAfter;
};
} // namespace

/// To where all that it compares is known. A function that fails has no
/// results, so nothing that stands between can tell.
void CheckRaiser::raise(CheckOp check) {
  Block *block = check->getBlock();
  SetVector<Operation *> moved;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.inclusive = true;
  options.filter = [&](Operation *op) {
    return op == check || (op->getBlock() == block && canMove(op));
  };
  // Fails only where it cannot tell what a region captures: ops that move have
  // none.
  if (failed(getBackwardSlice(check.getOperation(), &moved, options)))
    return;
  Operation *barrier = nullptr;
  for (Operation *op : moved)
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && def->getBlock() == block && !moved.contains(def) &&
          (!barrier || barrier->isBeforeInBlock(def)))
        barrier = def;
    }
  Operation *&last = barrier ? lastAfter[barrier] : lastAtStart[block];
  Operation *after = last ? last : barrier;
  for (Operation *op : moved) {
    if (after && !after->isBeforeInBlock(op))
      continue;
    if (after)
      op->moveAfter(after);
    else if (op != &block->front())
      op->moveBefore(&block->front());
    after = op;
  }
  last = check;
}

//===----------------------------------------------------------------------===//
// Out of parallel regions
//===----------------------------------------------------------------------===//

namespace {
/// Moves a check before the outermost parallel region around it, under the
/// conditions on which it would have run there.
class ParallelEscape {
public:
  ParallelEscape(CheckOp check, Operation *outermost)
      : check(check), outermost(outermost), builder(outermost) {}

  /// False if what it compares, or whether it runs, depends on the iteration.
  bool run();
  /// Whether there are conditions: then the check is in a branch of its own.
  bool isGuarded() const { return static_cast<bool>(condition); }

private:
  bool collect(Value value);
  bool collectConditions();
  bool collectConditions(Operation *parent, Operation *child);
  void require(arith::CmpIPredicate predicate, OpFoldResult left,
               OpFoldResult right);

  struct Condition {
    arith::CmpIPredicate predicate;
    OpFoldResult left, right;
  };

  CheckOp check;
  Operation *outermost;
  OpBuilder builder;
  /// What moves along, uses after definitions.
  SetVector<Operation *> moved;
  SmallVector<Condition> conditions;
  Value condition;
};
} // namespace

/// Whether a value is known, or can be computed, before the region.
bool ParallelEscape::collect(Value value) {
  if (!outermost->isAncestor(value.getParentBlock()->getParentOp()))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !canMove(op))
    return false;
  if (moved.contains(op))
    return true;
  if (!llvm::all_of(op->getOperands(),
                    [&](Value operand) { return collect(operand); }))
    return false;
  moved.insert(op);
  return true;
}

/// On which conditions `parent` runs the region of `child` at all.
bool ParallelEscape::collectConditions(Operation *parent, Operation *child) {
  if (isa<memref::AllocaScopeOp>(parent))
    return parent->getRegion(0).hasOneBlock();
  if (auto branch = dyn_cast<scf::IfOp>(parent)) {
    bool inThen = branch.getThenRegion().isAncestor(child->getParentRegion());
    conditions.push_back({arith::CmpIPredicate::eq, branch.getCondition(),
                          Builder(parent).getBoolAttr(inThen)});
    return collect(branch.getCondition());
  }
  if (!isa<scf::ForOp, scf::ForallOp, scf::ParallelOp>(parent))
    return false;
  auto loop = cast<LoopLikeOpInterface>(parent);
  auto sequential = dyn_cast<scf::ForOp>(parent);
  auto less = sequential && sequential.getUnsignedCmp()
                  ? arith::CmpIPredicate::ult
                  : arith::CmpIPredicate::slt;
  auto lower = loop.getLoopLowerBounds(), upper = loop.getLoopUpperBounds();
  if (!lower || !upper)
    return false;
  for (auto [from, to] : llvm::zip_equal(*lower, *upper)) {
    conditions.push_back({less, from, to});
    for (OpFoldResult bound : {from, to})
      if (auto value = dyn_cast<Value>(bound); value && !collect(value))
        return false;
  }
  return true;
}

bool ParallelEscape::collectConditions() {
  for (Operation *child = check; child != outermost;
       child = child->getParentOp())
    if (!collectConditions(child->getParentOp(), child))
      return false;
  return true;
}

/// Adds a condition, unless it is known to hold.
void ParallelEscape::require(arith::CmpIPredicate predicate, OpFoldResult left,
                             OpFoldResult right) {
  std::optional<int64_t> leftNumber = getConstantIntValue(left);
  std::optional<int64_t> rightNumber = getConstantIntValue(right);
  if (leftNumber && rightNumber &&
      arith::applyCmpPredicate(predicate, APInt(64, *leftNumber, true),
                               APInt(64, *rightNumber, true)))
    return;
  Location loc = check.getLoc();
  // Of two sides, one is a value, and has the type of both; numbers are bounds.
  Type type = builder.getIndexType();
  for (OpFoldResult side : {left, right})
    if (auto value = dyn_cast<Value>(side))
      type = value.getType();
  auto materialize = [&](OpFoldResult side) -> Value {
    if (auto value = dyn_cast<Value>(side))
      return value;
    return arith::ConstantOp::create(
        builder, loc, builder.getIntegerAttr(type, *getConstantIntValue(side)));
  };
  Value holds = arith::CmpIOp::create(builder, loc, predicate,
                                      materialize(left), materialize(right));
  condition =
      condition
          ? arith::AndIOp::create(builder, loc, condition, holds).getResult()
          : holds;
}

bool ParallelEscape::run() {
  if (!collect(check.getGot()) || !collect(check.getWant()) ||
      !collectConditions())
    return false;
  for (Operation *op : moved)
    op->moveBefore(outermost);
  for (const Condition &each : conditions)
    require(each.predicate, each.left, each.right);
  check->moveBefore(outermost);
  if (!condition)
    return true;
  auto branch = scf::IfOp::create(builder, check.getLoc(), condition,
                                  /*withElseRegion=*/false);
  check->moveBefore(branch.thenYield());
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Collector : OpBuilder::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    ops.push_back(op);
  }
  SmallVector<Operation *> ops;
};

struct EmitChecks : pol::impl::EmitChecksBase<EmitChecks> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<KernelOpInterface> kernels;
    module.walk([&](KernelOpInterface kernel) {
      // Only functions can return early.
      if (kernel->getParentOfType<func::FuncOp>() &&
          llvm::none_of(kernel->getOperandTypes(), llvm::IsaPred<TensorType>))
        kernels.push_back(kernel);
    });
    CheckRaiser raiser;
    for (KernelOpInterface kernel : kernels)
      if (failed(emitChecks(kernel, raiser)))
        return signalPassFailure();
    if (failed(verifyParallelRegions(module)))
      return signalPassFailure();
  }

  /// The checks of a kernel, before it and without what they do not need.
  static SmallVector<CheckOp> buildChecks(KernelOpInterface kernel) {
    Collector built;
    OpBuilder builder(kernel, &built);
    kernel.buildChecks(builder);
    SmallVector<CheckOp> checks;
    for (Operation *op : llvm::reverse(built.ops))
      if (isOpTriviallyDead(op))
        op->erase();
      else if (auto check = dyn_cast<CheckOp>(op))
        checks.push_back(check);
    std::reverse(checks.begin(), checks.end());
    return checks;
  }

  static LogicalResult emitChecks(KernelOpInterface kernel,
                                  CheckRaiser &raiser) {
    Operation *outermost = nullptr;
    for (Operation *parallel = getEnclosingParallel(kernel); parallel;
         parallel = getEnclosingParallel(parallel))
      outermost = parallel;
    for (CheckOp check : buildChecks(kernel)) {
      if (!outermost) {
        raiser.raise(check);
        continue;
      }
      ParallelEscape escape(check, outermost);
      if (escape.run()) {
        if (!escape.isGuarded())
          raiser.raise(check);
        continue;
      }
      InFlightDiagnostic error = kernel->emitOpError();
      error << "expected " << check.getWhat()
            << " to be known before the parallel region, in which no check "
               "can fail: checks=false trusts it";
      error.attachNote(outermost->getLoc()) << "the parallel region is here";
      return error;
    }
    return success();
  }
};
} // namespace
