//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Gives all that a function allocates its place in one slab.

#include "Frames.h"
#include "SizeEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "pol/Analysis/MemoryPlan.h"
#include "pol/Analysis/PlanVerifier.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_PLANMEMORY
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

/// The type of the slab for a space.
static MemRefType getSlabType(Type space) {
  return MemRefType::get(ShapedType::kDynamic,
                         IntegerType::get(space.getContext(), 8),
                         MemRefLayoutAttrInterface(),
                         cast<SpaceTypeInterface>(space).getMemorySpace());
}

//===----------------------------------------------------------------------===//
// Bodies that have a slab
//===----------------------------------------------------------------------===//

namespace {
/// Rewrites the body of a planned function, in which slabs take the place of
/// spaces.
class SlabRewriter {
public:
  SlabRewriter(func::FuncOp function, const FunctionPlan &plan,
               const DenseMap<Operation *, func::FuncOp> &bodies,
               MemoryPlanner &planner)
      : function(function), plan(plan), bodies(bodies), planner(planner),
        builder(function.getContext()) {}

  void run();

private:
  void addSlabs();
  void locate(const SpacePlan &space);
  void locateScope(const SpacePlan &space, size_t number);
  Value getBase(const MemoryScope &scope, Value start);
  void rewriteAlloc(AllocOp alloc);
  void rewriteCall(func::CallOp call);
  void removeSpaces();

  func::FuncOp function;
  const FunctionPlan &plan;
  const DenseMap<Operation *, func::FuncOp> &bodies;
  MemoryPlanner &planner;
  OpBuilder builder;
  std::unique_ptr<SizeEmitter> sizes;
  /// By the number of the space argument.
  DenseMap<unsigned, BlockArgument> slabs;
  /// Where an item is, of a call for an argument, and how large.
  DenseMap<std::pair<Operation *, unsigned>, std::pair<Value, Value>> places;
};
} // namespace

/// Slabs come last for as long as the spaces are still used.
void SlabRewriter::addSlabs() {
  Block &block = function.getBody().front();
  for (const SpacePlan &space : plan.spaces)
    slabs[space.argument] = block.addArgument(
        getSlabType(block.getArgument(space.argument).getType()),
        block.getArgument(space.argument).getLoc());
}

static Value addIndices(OpBuilder &builder, Location loc, Value a, Value b) {
  return a ? arith::AddIOp::create(builder, loc, a, b).getResult() : b;
}

/// Where a trip of a loop has its memory, at the builder's place.
Value SlabRewriter::getBase(const MemoryScope &scope, Value start) {
  Location loc = scope.op->getLoc();
  if (scope.stride->isConstant(0))
    return start;
  auto loop = cast<LoopLikeOpInterface>(scope.op);
  auto variables = *loop.getLoopInductionVars();
  auto materialize = [&](OpFoldResult value) -> Value {
    Value known = getValueOrCreateConstantIndexOp(builder, loc, value);
    return known.getType().isIndex()
               ? known
               : arith::IndexCastOp::create(builder, loc,
                                            builder.getIndexType(), known);
  };
  // Trips of nested loops are counted in the order in which they run.
  Value trip;
  for (auto [variable, lower, upper, step] :
       llvm::zip_equal(variables, *loop.getLoopLowerBounds(),
                       *loop.getLoopUpperBounds(), *loop.getLoopSteps())) {
    Value from = materialize(lower), by = materialize(step);
    Value distance =
        arith::SubIOp::create(builder, loc, materialize(variable), from);
    Value number = arith::DivUIOp::create(builder, loc, distance, by);
    if (trip) {
      Value length =
          arith::SubIOp::create(builder, loc, materialize(upper), from);
      Value count = arith::CeilDivUIOp::create(builder, loc, length, by);
      trip = arith::MulIOp::create(builder, loc, trip, count);
    }
    trip = addIndices(builder, loc, trip, number);
  }
  Value distance =
      arith::MulIOp::create(builder, loc, trip, sizes->getIndex(scope.stride));
  return addIndices(builder, loc, start, distance);
}

/// Everything that is the same for the whole run is computed at the start.
void SlabRewriter::locateScope(const SpacePlan &space, size_t number) {
  const MemoryScope &scope = space.scopes[number];
  Value base;
  OpBuilder::InsertionGuard guard(builder);
  if (scope.op != plan.function) {
    Value start = places.at({scope.op, space.argument}).first;
    // The parts that do not change with the trips are there already.
    sizes->getIndex(scope.stride);
    for (const MemoryItem &item : scope.items) {
      sizes->getIndex(item.offset);
      sizes->getIndex(item.bytes);
    }
    if (!scope.stride->isConstant(0))
      builder.setInsertionPointToStart(&scope.op->getRegion(0).front());
    else if (isa<LoopLikeOpInterface>(scope.op))
      builder.setInsertionPoint(scope.op);
    base = getBase(scope, start);
  }
  for (const MemoryItem &item : scope.items) {
    Value offset = sizes->getIndex(item.offset);
    unsigned argument = isa<func::CallOp>(item.op) ? item.argument
                        : isa<AllocOp>(item.op)    ? 0
                                                   : space.argument;
    places[{item.op, argument}] = {
        addIndices(builder, item.op->getLoc(), base, offset),
        sizes->getIndex(item.bytes)};
  }
}

void SlabRewriter::locate(const SpacePlan &space) {
  for (size_t number = 0; number < space.scopes.size(); ++number)
    locateScope(space, number);
}

void SlabRewriter::rewriteAlloc(AllocOp alloc) {
  auto argument = MemoryPlanner::getArgument(alloc.getSpace());
  builder.setInsertionPoint(alloc);
  auto view = memref::ViewOp::create(
      builder, alloc.getLoc(), cast<MemRefType>(alloc.getType()),
      slabs.at(*argument), places.at({alloc, 0}).first, alloc.getExtents());
  alloc.replaceAllUsesWith(view.getResult());
  alloc.erase();
}

void SlabRewriter::rewriteCall(func::CallOp call) {
  func::FuncOp callee = planner.getCallee(call);
  builder.setInsertionPoint(call);
  SmallVector<Value> operands(call.getOperands());
  for (auto [number, operand] : llvm::enumerate(operands)) {
    if (!MemoryPlanner::isPlanned(operand.getType()))
      continue;
    auto [offset, bytes] = places.at({call, number});
    Value slab = slabs.at(*MemoryPlanner::getArgument(operand));
    operand = memref::ViewOp::create(builder, call.getLoc(),
                                     cast<MemRefType>(slab.getType()), slab,
                                     offset, bytes);
  }
  auto rewritten =
      func::CallOp::create(builder, call.getLoc(), bodies.at(callee), operands);
  rewritten->setDiscardableAttrs(call->getDiscardableAttrDictionary());
  call.replaceAllUsesWith(rewritten.getResults());
  call.erase();
}

/// Nothing uses spaces any more: slabs take their positions.
void SlabRewriter::removeSpaces() {
  SmallVector<FrameOp> frames;
  function.walk([&](FrameOp frame) {
    if (MemoryPlanner::getArgument(frame.getSpace()))
      frames.push_back(frame);
  });
  // Inner frames first: each is used by nothing then.
  for (FrameOp frame : frames)
    inlineFrame(frame);
  Block &block = function.getBody().front();
  for (const SpacePlan &space : plan.spaces) {
    BlockArgument added = slabs.at(space.argument);
    BlockArgument slab =
        block.insertArgument(space.argument, added.getType(), added.getLoc());
    added.replaceAllUsesWith(slab);
    block.eraseArgument(added.getArgNumber());
    block.eraseArgument(space.argument + 1);
  }
  function.setFunctionType(builder.getFunctionType(
      block.getArgumentTypes(), function.getFunctionType().getResults()));
}

void SlabRewriter::run() {
  addSlabs();
  builder.setInsertionPointToStart(&function.getBody().front());
  // What is computed here comes before what is in the function by now.
  Operation *first = &function.getBody().front().front();
  SmallVector<Value> parameters =
      emitSizeParameters(builder, function.getLoc(), function);
  builder.setInsertionPoint(first);
  sizes = std::make_unique<SizeEmitter>(builder, function.getLoc(), parameters);
  for (const SpacePlan &space : plan.spaces)
    locate(space);
  SmallVector<AllocOp> allocs;
  SmallVector<func::CallOp> calls;
  function.walk([&](Operation *op) {
    auto alloc = dyn_cast<AllocOp>(op);
    if (alloc && MemoryPlanner::getArgument(alloc.getSpace()))
      allocs.push_back(alloc);
    if (auto call = dyn_cast<func::CallOp>(op))
      if (llvm::any_of(call.getOperandTypes(), MemoryPlanner::isPlanned))
        calls.push_back(call);
  });
  for (func::CallOp call : calls)
    rewriteCall(call);
  for (AllocOp alloc : allocs)
    rewriteAlloc(alloc);
  removeSpaces();
}

//===----------------------------------------------------------------------===//
// Functions that carve a slab
//===----------------------------------------------------------------------===//

/// What only this call uses takes its place.
static void inlineBody(func::CallOp call, func::FuncOp body) {
  Block &block = body.getBody().front();
  auto ret = cast<func::ReturnOp>(block.getTerminator());
  for (auto [argument, operand] :
       llvm::zip_equal(block.getArguments(), call.getOperands()))
    argument.replaceAllUsesWith(operand);
  call.replaceAllUsesWith(ret.getOperands());
  ret.erase();
  call->getBlock()->getOperations().splice(call->getIterator(),
                                           block.getOperations());
  call.erase();
  body.erase();
}

/// A function that is called with spaces, not slabs: it carves the slabs and
/// calls `body`, which has what the function did. The call.
static func::CallOp emitWrapper(func::FuncOp function, func::FuncOp body,
                                const FunctionPlan &plan, bool isInlined) {
  OpBuilder builder(function.getContext());
  Location loc = function.getLoc();
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  SizeEmitter sizes(builder, loc, emitSizeParameters(builder, loc, function));
  SmallVector<Value> arguments(block->getArguments());
  SmallVector<Value> marks;
  for (const SpacePlan &space : plan.spaces) {
    Value from = block->getArgument(space.argument);
    MemRefType type = getSlabType(from.getType());
    bool isUnused = body.getArgument(space.argument).use_empty() && isInlined;
    if (space.getBytes()->isConstant(0) &&
        (isUnused || !type.getMemorySpace())) {
      // Nothing is taken, and nothing can fail. The stack is no memory but the
      // default one's, as long as anybody looks.
      Value empty = memref::AllocaOp::create(
          builder, loc,
          MemRefType::get({0}, builder.getI8Type(), MemRefLayoutAttrInterface(),
                          type.getMemorySpace()));
      arguments[space.argument] =
          memref::CastOp::create(builder, loc, type, empty);
      marks.push_back(nullptr);
      continue;
    }
    Value bytes = arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(), sizes.getBytes(space.getBytes()));
    marks.push_back(MarkOp::create(builder, loc,
                                   MarkType::get(builder.getContext()), from));
    auto carve = CarveOp::create(
        builder, loc, type, builder.getI1Type(), from, bytes,
        /*name=*/StringAttr(), function.getSymNameAttr(),
        BufferRoleAttr::get(builder.getContext(), BufferRole::Slab),
        builder.getI64IntegerAttr(SizeExpr::alignment));
    arguments[space.argument] = carve.getBuffer();
  }
  auto call = func::CallOp::create(builder, loc, body, arguments);
  for (auto [space, mark] : llvm::zip_equal(plan.spaces, marks)) {
    Value from = block->getArgument(space.argument);
    if (!mark)
      continue;
    if (space.getKept()->isConstant(0))
      RetractOp::create(builder, loc, builder.getI1Type(), from, mark);
    else if (space.getKept() != space.getBytes())
      TrimOp::create(builder, loc, arguments[space.argument],
                     sizes.getIndex(space.getKept()), from);
  }
  func::ReturnOp::create(builder, loc, call.getResults());
  return call;
}

/// `f_footprint`, of one of several spaces `f_footprint_0` and so on.
static LogicalResult emitFootprints(func::FuncOp function,
                                    const FunctionPlan &plan) {
  OpBuilder builder(function.getContext());
  Location loc = function.getLoc();
  auto module = function->getParentOfType<ModuleOp>();
  builder.setInsertionPointAfter(function);
  Type i64 = builder.getI64Type();
  SmallVector<Type> parameters(getSizeParameters(function).size(), i64);
  for (auto [number, space] : llvm::enumerate(plan.spaces)) {
    std::string name = (function.getSymName() + "_footprint").str();
    if (plan.spaces.size() > 1)
      name += "_" + std::to_string(number);
    if (Operation *taken = module.lookupSymbol(name))
      return taken->emitOpError("expected the name of the footprint of @")
             << function.getSymName() << " to be free";
    auto footprint = func::FuncOp::create(
        builder, loc, name, builder.getFunctionType(parameters, i64));
    footprint->setAttr("pol.entry", builder.getUnitAttr());
    OpBuilder::InsertionGuard guard(builder);
    Block *block = footprint.addEntryBlock();
    builder.setInsertionPointToStart(block);
    SizeEmitter sizes(builder, loc, block->getArguments());
    func::ReturnOp::create(builder, loc, sizes.getBytes(space.getBytes()));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PlanMemory : pol::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;
  PlanMemory(const PlanMemoryOptions &options,
             std::function<void(const ModulePlan &)> onPlan)
      : PlanMemoryBase(options), onPlan(std::move(onPlan)) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (mode != "plan" && mode != "bump") {
      emitError(module.getLoc())
          << "expected the mode to be plan or bump, but got '"
          << mode.getValue() << "'";
      return signalPassFailure();
    }
    MemoryPlanner planner(module, mode == "plan" ? PlacementMode::Plan
                                                 : PlacementMode::Bump);
    SmallVector<const FunctionPlan *> plans;
    bool isUnknown = reportNested();
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!MemoryPlanner::takesSpace(function))
        continue;
      const FunctionPlan &plan = planner.getPlan(function);
      if (!plan.unknown)
        plans.push_back(&plan);
      else
        isUnknown |= report(plan);
    }
    if (isUnknown || failed(verify(planner, plans)))
      return signalPassFailure();
    if (onPlan)
      onPlan(planner.describe());
    if (failed(rewrite(planner, plans)))
      signalPassFailure();
  }

  /// A capture in which something is allocated. Carved piece by piece, its
  /// address would depend on the branches taken before.
  static CaptureOp findCapture(func::FuncOp function) {
    CaptureOp found;
    function.walk([&](CaptureOp capture) {
      capture.walk([&](Operation *op) {
        if (llvm::any_of(op->getOperandTypes(), MemoryPlanner::isPlanned))
          found = capture;
      });
    });
    return found;
  }

  /// Functions of modules inside this one are not planned.
  bool reportNested() {
    bool isError = false;
    ModuleOp module = getOperation();
    module.walk([&](func::FuncOp function) {
      if (function->getParentOp() != module &&
          MemoryPlanner::takesSpace(function))
        isError |= report({function,
                           {},
                           UnknownSize{function.getLoc(),
                                       "it is in a module inside another"}});
    });
    return isError;
  }

  /// Says why a function is not planned; whether that is an error.
  bool report(const FunctionPlan &plan) {
    func::FuncOp function = plan.function;
    CaptureOp capture = findCapture(function);
    bool isError = requireFootprint || capture;
    if (!isError && !reportUnknown)
      return false;
    InFlightDiagnostic diagnostic = isError
                                        ? emitError(plan.unknown->location)
                                        : emitRemark(plan.unknown->location);
    diagnostic << "the footprint of @" << function.getSymName()
               << " is not known before a run, as " << plan.unknown->reason;
    if (capture)
      diagnostic.attachNote(capture.getLoc())
          << "addresses inside this capture would change from run to run";
    else if (!isError)
      diagnostic << ": what it allocates is carved piece by piece";
    return isError;
  }

  /// A plan that is not valid would corrupt memory.
  LogicalResult verify(MemoryPlanner &planner,
                       ArrayRef<const FunctionPlan *> plans) {
    PlanVerifier verifier(planner, getOperation());
    for (const FunctionPlan *plan : plans)
      if (auto fault = verifier.verify(*plan))
        return emitError(fault->location) << fault->text;
    return success();
  }

  LogicalResult rewrite(MemoryPlanner &planner,
                        ArrayRef<const FunctionPlan *> plans) {
    ModuleOp module = getOperation();
    DenseSet<Operation *> wrapped = findCalledWithSpaces(planner, plans);
    SymbolTable symbols(module);
    DenseMap<Operation *, func::FuncOp> bodies;
    for (const FunctionPlan *plan : plans) {
      func::FuncOp function = plan->function, body = function;
      if (function.isPublic() && failed(emitFootprints(function, *plan)))
        return failure();
      if (wrapped.contains(function)) {
        body = cast<func::FuncOp>(function->cloneWithoutRegions());
        body.setPrivate();
        body.setSymName((function.getSymName() + "_in_slab").str());
        symbols.insert(body, std::next(Block::iterator(function)));
        body.getBody().takeBody(function.getBody());
      }
      bodies[function] = body;
    }
    for (const FunctionPlan *plan : plans) {
      func::FuncOp function = plan->function;
      SlabRewriter(bodies.at(function), *plan, bodies, planner).run();
    }
    for (const FunctionPlan *plan : plans) {
      func::FuncOp function = plan->function;
      if (!wrapped.contains(function))
        continue;
      func::FuncOp body = bodies.at(function);
      bool isCalled = !SymbolTable::symbolKnownUseEmpty(body, module);
      func::CallOp call = emitWrapper(function, body, *plan, !isCalled);
      if (!isCalled)
        inlineBody(call, body);
    }
    return success();
  }

  /// Public functions, and those that functions without a plan call.
  DenseSet<Operation *>
  findCalledWithSpaces(MemoryPlanner &planner,
                       ArrayRef<const FunctionPlan *> plans) {
    DenseSet<Operation *> planned, wrapped;
    for (const FunctionPlan *plan : plans) {
      func::FuncOp function = plan->function;
      planned.insert(function);
      if (function.isPublic())
        wrapped.insert(function);
    }
    getOperation().walk([&](func::CallOp call) {
      if (!planned.contains(call->getParentOfType<func::FuncOp>()))
        if (func::FuncOp callee = planner.getCallee(call))
          wrapped.insert(callee);
    });
    return wrapped;
  }

  std::function<void(const ModulePlan &)> onPlan;
};
} // namespace

std::unique_ptr<Pass>
mlir::pol::createPlanMemory(const PlanMemoryOptions &options,
                            std::function<void(const ModulePlan &)> onPlan) {
  return std::make_unique<PlanMemory>(options, std::move(onPlan));
}
