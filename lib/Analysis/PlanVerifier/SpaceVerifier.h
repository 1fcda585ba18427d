//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One space of a plan: what is in use when, and whether the places fit it.

#ifndef POL_LIB_ANALYSIS_PLANVERIFIER_SPACEVERIFIER_H
#define POL_LIB_ANALYSIS_PLANVERIFIER_SPACEVERIFIER_H

#include "ReferenceTracer.h"
#include "UseTimes.h"
#include "pol/Analysis/PlanVerifier.h"

namespace mlir::pol {

/// What is known of an item without the planner.
struct ItemUse {
  const MemoryItem *item;
  /// When all of it is in use, and when only what it keeps.
  TimeSpans whole, kept;
  /// Whether it is in use after a trip through its scope.
  bool outlives = false;
};

/// A piece of memory that something in the function takes.
struct MemorySource {
  Operation *op;
  unsigned argument;
  ReferenceTrace trace;
};

/// Finds out what a space's items are and when they are in use. The plan's
/// lists are compared with the program.
class UseFinder {
public:
  UseFinder(ReferenceTracer &tracer, func::FuncOp function,
            const UseTimes &times, const SpacePlan &plan)
      : tracer(tracer), function(function), times(times), plan(plan) {}

  std::optional<PlanFault> run();
  /// By scope, in the order of its items.
  std::vector<std::vector<ItemUse>> uses;

private:
  void collectSources();
  std::optional<PlanFault> checkItems();
  std::optional<PlanFault> checkItem(const MemoryItem &item, size_t scope);
  void addUse(const MemoryItem &item, size_t scope);
  std::optional<PlanFault> shareInPlace(size_t scope);
  bool survivesTrip(const MemorySource &source, Operation *loop) const;
  Operation *findInPlaceOp(const MemorySource &input,
                           const MemorySource &destination) const;
  const MemorySource *getSource(const MemoryItem &item) const;
  SmallVector<const MemorySource *> getSources(const MemoryItem &item) const;

  ReferenceTracer &tracer;
  func::FuncOp function;
  const UseTimes &times;
  const SpacePlan &plan;
  llvm::MapVector<std::pair<Operation *, unsigned>, MemorySource> sources;
  llvm::MapVector<Operation *, size_t> scopeOf;
};

/// Checks the places of a space's items for one valuation of the parameters.
class PlaceChecker {
public:
  PlaceChecker(MemoryPlanner &planner, const SpacePlan &plan,
               const std::vector<std::vector<ItemUse>> &uses,
               const UseTimes &times, ArrayRef<int64_t> parameters)
      : planner(planner), plan(plan), uses(uses), times(times),
        evaluate(parameters) {}

  std::optional<PlanFault> run();

private:
  /// How a scope repeats.
  struct Trips {
    int64_t count, stride, bytes, kept;
  };
  /// A use in memory, at one time.
  struct Piece {
    const ItemUse *use;
    TimeSpan span;
    int64_t offset, bytes;
  };

  bool runs(Operation *op);
  std::optional<bool> entersRegion(Region *region);
  std::optional<PlanFault> checkTotal();
  std::optional<PlanFault> checkScope(size_t number);
  std::optional<PlanFault> checkSize(const MemoryItem &item);
  std::optional<PlanFault> checkPlace(const ItemUse &use, const Trips &trips);
  std::optional<PlanFault> checkInPlace(const std::vector<ItemUse> &scope);
  std::optional<PlanFault> checkApart(ArrayRef<Piece> pieces, int64_t bytes);
  std::optional<PlanFault> findOverlap(ArrayRef<Piece> pieces);

  MemoryPlanner &planner;
  const SpacePlan &plan;
  const std::vector<std::vector<ItemUse>> &uses;
  const UseTimes &times;
  SizeEvaluator evaluate;
};

/// An item as users know it, with its place in the source.
std::string describeItem(const MemoryItem &item);
/// Whether at most one of two ops runs on a trip that both are on.
bool areExclusive(Operation *one, Operation *other);

} // namespace mlir::pol

#endif // POL_LIB_ANALYSIS_PLANVERIFIER_SPACEVERIFIER_H
