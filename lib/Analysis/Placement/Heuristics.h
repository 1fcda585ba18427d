//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The fast heuristics, on the items of an instance.

#ifndef POL_LIB_ANALYSIS_PLACEMENT_HEURISTICS_H
#define POL_LIB_ANALYSIS_PLACEMENT_HEURISTICS_H

#include "FirstFit.h"

namespace mlir::pol::placement {

std::vector<uint32_t> orderItems(const Instance &instance, GreedyOrder order);

/// Each item when it begins, into the smallest range that is free and large
/// enough; gaps are left aside. Returns the height.
int64_t placeByTime(const Instance &instance, std::vector<int64_t> &offsets);

/// The best of all orders and of changes of them.
void placeBest(const Instance &instance, const ConflictGraph &graph,
               const GreedyOptions &options, std::vector<int64_t> &offsets);

} // namespace mlir::pol::placement

#endif // POL_LIB_ANALYSIS_PLACEMENT_HEURISTICS_H
