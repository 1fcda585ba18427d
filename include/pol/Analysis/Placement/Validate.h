//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Checks a placement. Of the library it uses the data structures only, nothing
// of what places buffers, so that a mistake there is found here.

#ifndef POL_ANALYSIS_PLACEMENT_VALIDATE_H
#define POL_ANALYSIS_PLACEMENT_VALIDATE_H

#include "pol/Analysis/Placement/Placement.h"

namespace mlir::pol::placement {

/// The first fault of a placement in words, with the buffers by index, the time
/// and the bytes; nothing if it is valid. Two buffers use a byte at once, an
/// offset is negative or not aligned, or a buffer ends beyond the capacity
/// (none if it is -1) or beyond 64 bits. Takes n log n time.
std::optional<std::string> validate(const Buffers &buffers,
                                    const std::vector<int64_t> &offsets,
                                    int64_t capacity = -1);

/// Also that the height is what the offsets say.
std::optional<std::string> validate(const Buffers &buffers,
                                    const Placement &placement,
                                    int64_t capacity = -1);

} // namespace mlir::pol::placement

#endif // POL_ANALYSIS_PLACEMENT_VALIDATE_H
