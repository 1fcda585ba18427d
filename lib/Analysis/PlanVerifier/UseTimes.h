//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// When memory is in use, in a function of structured control flow, as a set of
// intervals of time: what one branch does is not in use in the other.

#ifndef POL_LIB_ANALYSIS_PLANVERIFIER_USETIMES_H
#define POL_LIB_ANALYSIS_PLANVERIFIER_USETIMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace mlir::pol {

/// Half-open.
struct TimeSpan {
  int64_t begin, end;
};
using TimeSpans = SmallVector<TimeSpan, 2>;

class UseTimes {
public:
  explicit UseTimes(func::FuncOp function);

  TimeSpan get(Operation *op) const { return ops.at(op); }
  /// The op that runs at a time, the innermost one.
  Operation *getOp(int64_t time) const;

  /// Whether an op runs at most one of its regions, and that once.
  static bool isChoice(Operation *op);
  /// The region around an op that is run again and again, or the function's.
  static Region *getTrip(Operation *op);

  /// When memory of `source` is in use on one trip through the region that it
  /// is on: from the first of the accesses after it to the last, on every path,
  /// or to the end of the trip.
  TimeSpans find(Operation *source, ArrayRef<Operation *> accesses,
                 bool toTheEnd) const;

private:
  /// Ops of a block that are or have accesses, by time.
  struct Touched {
    Operation *op;
    /// Whether it is an access as a whole.
    bool isWhole;
  };
  using TouchedOps = DenseMap<Block *, std::map<int64_t, Touched>>;

  void number(Operation *op, int64_t &now);
  void touch(Operation *access, Region *trip, TouchedOps &touched) const;
  void visit(Block *block, bool before, bool after, const TouchedOps &touched,
             TimeSpans &spans) const;
  void visitOp(const Touched &entry, bool before, bool after,
               const TouchedOps &touched, TimeSpans &spans) const;

  DenseMap<Operation *, TimeSpan> ops;
  DenseMap<Block *, TimeSpan> blocks;
  std::map<int64_t, Operation *> byTime;
};

} // namespace mlir::pol

#endif // POL_LIB_ANALYSIS_PLANVERIFIER_USETIMES_H
