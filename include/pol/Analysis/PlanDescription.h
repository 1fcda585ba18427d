//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What a plan says of every buffer of a function and of what it calls, apart
// from the program: it holds nothing of the IR, and shapes can be put in later.

#ifndef POL_ANALYSIS_PLANDESCRIPTION_H
#define POL_ANALYSIS_PLANDESCRIPTION_H

#include "pol/Analysis/SizeExpr.h"
#include <memory>
#include <string>

namespace mlir::pol {

/// A buffer of a slab, by name. Calls are looked into: it may be a callee's.
struct PlannedBuffer {
  std::string name, kernel, role, location, function;
  Size bytes, offset;
  /// Of a loop whose trips have memory of their own: how often, how far apart.
  Size times, stride;
  /// On one line of steps through the function and what it calls, half-open.
  int64_t begin, end;
};

/// The slab for one space argument.
struct PlannedSpace {
  unsigned argument;
  Size bytes, kept;
  /// Of a bump allocator; null if that is not known.
  Size bump;
  std::vector<PlannedBuffer> buffers;
};

struct PlanDescription {
  std::string function;
  /// The argument of each parameter, and which of its extents, -1 for itself.
  std::vector<std::pair<unsigned, int64_t>> parameters;
  std::vector<PlannedSpace> spaces;
  int64_t steps = 0;
};

/// Of the public functions of a module that are planned. The sizes belong to
/// the context.
struct ModulePlan {
  std::shared_ptr<SizeContext> context;
  std::vector<PlanDescription> functions;
};

} // namespace mlir::pol

#endif // POL_ANALYSIS_PLANDESCRIPTION_H
