//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a conjunction leaves of a box of queries and keys.

#ifndef POL_LIB_ANALYSIS_MASK_BOX_H
#define POL_LIB_ANALYSIS_MASK_BOX_H

#include "Formula.h"
#include "Intervals.h"

namespace mlir::pol::mask {

/// Positions from `begin` to before `end`.
struct Positions {
  Number begin, end;
};

/// The queries and keys of a box that a conjunction's bounds leave, each by
/// itself, and conditions without which there are none. There are none, too,
/// where either has an end that is not after its begin. Numbers may have
/// wrapped where the conditions do not hold.
struct Box {
  Positions queries, keys;
  /// Of q - k, inclusive.
  std::optional<Number> least, greatest;
  Condition holds = true;

  /// With what the differences leave of the keys, or queries.
  Positions getKeys(Numbers &numbers) const;
  Positions getQueries(Numbers &numbers) const;
  /// Whether any position is left.
  Condition hasAny(Numbers &numbers) const;
};

/// The part of a box that a conjunction may keep. Atoms that are no bounds and
/// that depend on the position are looked at if `withOpaque`.
Box restrict(Box box, const Conjunction &conjunction, Numbers &numbers,
             Intervals &intervals, Dependences &dependences, bool withOpaque);

} // namespace mlir::pol::mask

#endif // POL_LIB_ANALYSIS_MASK_BOX_H
