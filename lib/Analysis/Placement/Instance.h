//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The buffers of a placement as the solvers see them.

#ifndef POL_LIB_ANALYSIS_PLACEMENT_INSTANCE_H
#define POL_LIB_ANALYSIS_PLACEMENT_INSTANCE_H

#include "pol/Analysis/Placement/Placement.h"

namespace mlir::pol::placement {

/// The least multiple of a power of two that is not below the offset.
inline int64_t alignUp(int64_t offset, int64_t alignment) {
  return (offset + (alignment - 1)) & ~(alignment - 1);
}

/// Bytes [lower, upper) of a buffer are in use during [begin, end), which are
/// numbers of times.
struct Piece {
  uint32_t begin, end;
  int64_t lower, upper;
};

/// A buffer that takes something. Gaps cut it into pieces; without, it is one.
struct Item {
  size_t buffer;
  int64_t size, alignment;
  uint32_t firstPiece, endPiece;
  /// From the first piece's begin to the last one's end, as numbers and as
  /// given.
  uint32_t begin, end;
  int64_t length;
};

/// The buffers without those that take nothing, the times at which anything
/// changes numbered from 0.
class Instance {
public:
  explicit Instance(const Buffers &buffers);

  /// A range for loops.
  struct PieceRange {
    const Piece *first, *last;
    const Piece *begin() const { return first; }
    const Piece *end() const { return last; }
  };
  PieceRange getPieces(const Item &item) const {
    return {pieces.data() + item.firstPiece, pieces.data() + item.endPiece};
  }

  /// A placement by the items' offsets.
  Placement makePlacement(const std::vector<int64_t> &itemOffsets) const;

  std::vector<Item> items;
  std::vector<Piece> pieces;
  /// Of all buffers, with those that take nothing.
  size_t numBuffers;
  uint32_t numTimes = 0;
  /// Bytes in use from each time to the next.
  std::vector<int64_t> load;
  int64_t lowerBound = 0;
  /// A gap leaves a part of a buffer in use: two buffers may be above each
  /// other both ways.
  bool hasWindows = false;

private:
  void addItem(const Buffer &buffer, size_t index,
               const std::vector<int64_t> &times);
};

} // namespace mlir::pol::placement

#endif // POL_LIB_ANALYSIS_PLACEMENT_INSTANCE_H
