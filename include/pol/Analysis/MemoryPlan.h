//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Where everything that a function allocates goes in one slab for each space,
// and how large the slab has to be, as expressions on the function's shapes.

#ifndef POL_ANALYSIS_MEMORYPLAN_H
#define POL_ANALYSIS_MEMORYPLAN_H

#include "pol/Analysis/PlanDescription.h"
#include "pol/Analysis/Provenance.h"
#include "pol/Analysis/SizeAnalysis.h"

namespace mlir::pol {

/// What takes memory of a slab: an allocation, a call of a function that
/// allocates, or a loop whose trips leave something allocated. Of a call or
/// loop it is `bytes` while the op runs, and the first `kept` of them after.
struct MemoryItem {
  Operation *op;
  /// Of a call: the argument that the memory is for.
  unsigned argument = 0;
  Size bytes = nullptr;
  Size kept = nullptr;
  /// Program points between which it is in use, half-open, and from which on
  /// only `kept` is.
  int64_t begin = 0, end = 0, keptFrom = 0;
  /// Whether it is in use when its scope ends.
  bool escapes = false;
  /// An earlier item whose memory this takes over, byte for byte; -1: none.
  int64_t inPlaceOf = -1;
  /// From the start of the scope's memory.
  Size offset = nullptr;

  bool isUsed() const { return begin < end; }
};

/// The body of a function, or of a loop of which every trip has its own memory,
/// `stride` bytes after the one before.
struct MemoryScope {
  Operation *op;
  SmallVector<MemoryItem> items;
  /// In all, and what is left of it when the scope ends; of a loop of all its
  /// trips.
  Size bytes = nullptr;
  Size kept = nullptr;
  Size stride = nullptr;
  /// Of a loop; null if they are not known.
  Size trips = nullptr;
};

/// One space argument of a function. The first scope is the function.
struct SpacePlan {
  unsigned argument;
  std::vector<MemoryScope> scopes;
  /// What a bump allocator needs and keeps; null if that is not known.
  Size bumpBytes = nullptr;
  Size bumpKept = nullptr;

  Size getBytes() const { return scopes.front().bytes; }
  Size getKept() const { return scopes.front().kept; }
};

struct FunctionPlan {
  func::FuncOp function;
  SmallVector<SpacePlan> spaces;
  /// Why the function is not planned, in which case `spaces` is empty.
  std::optional<UnknownSize> unknown;

  const SpacePlan *find(unsigned argument) const;
};

/// How buffers get their place in a slab.
enum class PlacementMode {
  /// One after the other, as a bump allocator does.
  Bump,
  /// As low as can be, never higher than that.
  Plan
};

/// Plans functions, callees before callers.
class MemoryPlanner {
public:
  MemoryPlanner(ModuleOp module, PlacementMode mode);

  /// Of a function with a body.
  const FunctionPlan &getPlan(func::FuncOp function);
  /// Whether there is anything to plan: the function takes a space that is
  /// carved from.
  static bool takesSpace(func::FuncOp function);
  /// Whether it is a space that is carved from, not one of single buffers.
  static bool isPlanned(Type type);
  /// The argument of its function that a space is, or that the frame it is of
  /// is opened on; none if it is anything else.
  static std::optional<unsigned> getArgument(Value space);

  func::FuncOp getCallee(func::CallOp call);
  const Provenance &getProvenance() const { return provenance; }
  SizeAnalysis &getSizes() { return sizes; }
  SizeContext &getContext() { return *context; }
  /// The plans of public functions.
  ModulePlan describe();
  /// What a call needs of a space argument of its callee, in the parameters of
  /// the caller: `bytes` and `kept` of `callee`. Null if they are not known.
  Size translate(func::CallOp call, Size expr);
  /// The bytes of an allocation; if they are not known, says why.
  Size getBytes(AllocOp alloc, std::optional<UnknownSize> &unknown);

private:
  FunctionPlan makePlan(func::FuncOp function);
  std::optional<UnknownSize> findObstacle(func::FuncOp function);
  std::optional<UnknownSize> checkSpace(Value space);
  std::optional<UnknownSize> checkCall(func::CallOp call);
  std::optional<UnknownSize> planSpace(func::FuncOp function, SpacePlan &plan);

  ModuleOp module;
  PlacementMode mode;
  SymbolTableCollection symbols;
  std::shared_ptr<SizeContext> context = std::make_shared<SizeContext>();
  SizeAnalysis sizes;
  Provenance provenance;
  DenseMap<Operation *, std::unique_ptr<FunctionPlan>> plans;
  /// Functions whose plan is being made.
  DenseSet<Operation *> active;
  /// Functions of which somebody has the address.
  DenseSet<Operation *> addressTaken;
};

//===----------------------------------------------------------------------===//
// Steps of the planner
//===----------------------------------------------------------------------===//

/// The points of a program: every op of a function has one at which it starts
/// and a later one at which it is done.
class ProgramPoints {
public:
  explicit ProgramPoints(func::FuncOp function);
  int64_t getStart(Operation *op) const { return points.at(op).first; }
  int64_t getEnd(Operation *op) const { return points.at(op).second; }

private:
  DenseMap<Operation *, std::pair<int64_t, int64_t>> points;
};

/// Whether an op may run its regions more than once, or in ways that nothing is
/// known of.
bool mayRepeat(Operation *op);

/// Why a size is not known: what a callee allocates, or how often a loop leaves
/// something allocated.
UnknownSize getUnknownCallee(func::CallOp call);
UnknownSize getUnknownTrips(Operation *loop);

/// "file:line:column", empty if there is none.
std::string describePlace(Location loc);

/// The bytes of a loop's trips, each `stride` after the one before, and the
/// last of them taking `last`.
Size getLoopBytes(SizeContext &context, Size trips, Size stride, Size last);

/// Follows a bump allocator through a function: sets `bumpBytes` and
/// `bumpKept`, and with `assign` also scopes and offsets. What it allocates is
/// in use until its frame closes.
std::optional<UnknownSize> simulateBump(MemoryPlanner &planner,
                                        func::FuncOp function,
                                        const ProgramPoints &points,
                                        SpacePlan &plan, bool assign);

/// Finds the scopes and items of a space, and when they are in use.
std::optional<UnknownSize> findLiveRanges(MemoryPlanner &planner,
                                          func::FuncOp function,
                                          const ProgramPoints &points,
                                          SpacePlan &plan);

/// Lets items take over the memory of others, where ops work in place.
void shareInPlace(const Provenance &provenance, const ProgramPoints &points,
                  MemoryScope &scope);

/// Gives the items of a scope their offsets; of a loop, scopes within it first.
/// `numParameters` are the function's.
void placeItems(SizeContext &context, MemoryScope &scope,
                unsigned numParameters);

} // namespace mlir::pol

#endif // POL_ANALYSIS_MEMORYPLAN_H
