//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Static memory placement: offsets for buffers whose sizes and live ranges are
// known, in as little memory as possible. Nothing but the standard library is
// needed, so that the compiler, tools and tests share it.

#ifndef POL_ANALYSIS_PLACEMENT_PLACEMENT_H
#define POL_ANALYSIS_PLACEMENT_PLACEMENT_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::pol::placement {

/// A part of a live range in which not all of the buffer is in use: in [begin,
/// end) it is bytes [lower, upper) of it, and none if lower == upper.
struct Gap {
  int64_t begin, end;
  int64_t lower = 0, upper = 0;
};

/// A buffer that is live in [begin, end). Times have no unit, only an order.
struct Buffer {
  int64_t begin, end;
  int64_t size;
  int64_t alignment = 1;
  /// In any order; they do not overlap each other.
  std::vector<Gap> gaps = {};
};

using Buffers = std::vector<Buffer>;

/// Where each buffer goes. Two buffers share a byte only if at no time both
/// use it. A buffer of no bytes or with an empty live range is at offset 0.
struct Placement {
  std::vector<int64_t> offsets;
  /// The largest offset + size of the buffers that take something.
  int64_t height = 0;
  /// Whether it is known that no placement is lower.
  bool isOptimal = false;
};

/// What is wrong with the buffers, in words; nothing if they can be placed. All
/// other functions take only buffers that pass. Sizes and alignments that add
/// up to 2^62 or more do not.
std::optional<std::string> check(const Buffers &buffers);

/// No placement is lower than this: the most bytes that are in use at a time,
/// or the largest buffer.
int64_t getLowerBound(const Buffers &buffers);

//===----------------------------------------------------------------------===//
// Greedy placement
//===----------------------------------------------------------------------===//

/// Each buffer in turn goes to the lowest offset at which it fits. The order is
/// a permutation of the buffers' indices.
Placement placeInOrder(const Buffers &buffers,
                       const std::vector<size_t> &order);

/// The orders that compilers and allocators use.
enum class GreedyOrder {
  /// By begin: what an allocator does that serves each request as it comes.
  Begin,
  /// By size, the largest first.
  Size,
  /// By length of the live range, the longest first.
  Lifetime,
  /// By size times length, the largest first.
  Area,
  /// By the live bytes of the busiest time that the buffer lives in, then size.
  Breadth,
  /// By the number of buffers that it is live together with, then size.
  Conflicts,
};
inline constexpr GreedyOrder greedyOrders[] = {
    GreedyOrder::Begin, GreedyOrder::Size,    GreedyOrder::Lifetime,
    GreedyOrder::Area,  GreedyOrder::Breadth, GreedyOrder::Conflicts};

const char *getName(GreedyOrder order);

/// The buffers in that order; the first in the list goes first among equals.
std::vector<size_t> getOrder(const Buffers &buffers, GreedyOrder order);

struct GreedyOptions {
  /// Low enough: the search for something better stops here.
  int64_t capacity = -1;
  /// Further placements that are tried on few buffers, in orders changed at
  /// random; the random numbers are always the same.
  int64_t maxTrials = 200;
};

/// The lowest of several fast heuristics, which take far less than quadratic
/// time on many buffers.
Placement placeGreedy(const Buffers &buffers,
                      const GreedyOptions &options = {});

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

struct SearchOptions {
  /// Low enough: the search stops here. -1 is as low as possible.
  int64_t capacity = -1;
  /// Decisions of the search in all. What is found depends on this number and
  /// the buffers only, in any process.
  int64_t maxNodes = 100000;
  /// When this is over 0 the search also stops after this time, and what it
  /// finds depends on the machine.
  double maxSeconds = 0;
};

/// The best of the heuristics, then an exact search for something better.
Placement place(const Buffers &buffers, const SearchOptions &options = {});

} // namespace mlir::pol::placement

#endif // POL_ANALYSIS_PLACEMENT_PLACEMENT_H
