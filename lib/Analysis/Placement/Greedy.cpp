//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Placement of items by orders and by the changes of orders.

#include "FirstFit.h"
#include "Heuristics.h"
#include "Random.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace mlir::pol::placement;

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

const char *mlir::pol::placement::getName(GreedyOrder order) {
  switch (order) {
  case GreedyOrder::Begin:
    return "begin";
  case GreedyOrder::Size:
    return "size";
  case GreedyOrder::Lifetime:
    return "lifetime";
  case GreedyOrder::Area:
    return "area";
  case GreedyOrder::Breadth:
    return "breadth";
  case GreedyOrder::Conflicts:
    return "conflicts";
  }
  return "";
}

/// The most bytes in use at a time that each item lives in: a sparse table of
/// maxima over powers of two.
static std::vector<double> getBreadths(const Instance &instance) {
  std::vector<std::vector<int64_t>> maxima = {instance.load};
  for (size_t step = 1; 2 * step <= instance.numTimes; step *= 2) {
    const std::vector<int64_t> &half = maxima.back();
    std::vector<int64_t> whole(half.size() - step);
    for (size_t i = 0; i < whole.size(); ++i)
      whole[i] = std::max(half[i], half[i + step]);
    maxima.push_back(std::move(whole));
  }
  std::vector<double> breadths;
  for (const Item &item : instance.items) {
    size_t level = 0;
    while (size_t(2) << level <= item.end - item.begin)
      ++level;
    breadths.push_back(
        std::max(maxima[level][item.begin],
                 maxima[level][item.end - (size_t(1) << level)]));
  }
  return breadths;
}

/// With how many others each item lives, its gaps left aside.
static std::vector<double> getNumConflicts(const Instance &instance) {
  // Those that begin before its end, without those that end before its begin.
  std::vector<uint32_t> begun(instance.numTimes + 1),
      ended(instance.numTimes + 1);
  for (const Item &item : instance.items) {
    ++begun[item.begin + 1];
    ++ended[item.end];
  }
  std::partial_sum(begun.begin(), begun.end(), begun.begin());
  std::partial_sum(ended.begin(), ended.end(), ended.begin());
  std::vector<double> counts;
  for (const Item &item : instance.items)
    counts.push_back(begun[item.end] - ended[item.begin]);
  return counts;
}

std::vector<uint32_t> mlir::pol::placement::orderItems(const Instance &instance,
                                                       GreedyOrder order) {
  const std::vector<Item> &items = instance.items;
  // The largest of `first` goes first, among equals the largest of `second`.
  std::vector<double> first, second;
  if (order == GreedyOrder::Breadth)
    first = getBreadths(instance);
  if (order == GreedyOrder::Conflicts)
    first = getNumConflicts(instance);
  for (const Item &item : items) {
    double size = item.size, length = item.length;
    if (order == GreedyOrder::Begin)
      first.push_back(-double(item.begin));
    else if (order == GreedyOrder::Size)
      first.push_back(size);
    else if (order == GreedyOrder::Lifetime)
      first.push_back(length);
    else if (order == GreedyOrder::Area)
      first.push_back(size * length);
    second.push_back(order == GreedyOrder::Size || order == GreedyOrder::Begin
                         ? length
                         : size);
  }
  std::vector<uint32_t> result(items.size());
  std::iota(result.begin(), result.end(), 0);
  std::sort(result.begin(), result.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(first[b], second[b], a) < std::tie(first[a], second[a], b);
  });
  return result;
}

std::vector<size_t> mlir::pol::placement::getOrder(const Buffers &buffers,
                                                   GreedyOrder order) {
  Instance instance(buffers);
  std::vector<size_t> result;
  std::vector<bool> takesSomething(buffers.size());
  for (uint32_t item : orderItems(instance, order)) {
    result.push_back(instance.items[item].buffer);
    takesSomething[result.back()] = true;
  }
  for (size_t i = 0; i < buffers.size(); ++i)
    if (!takesSomething[i])
      result.push_back(i);
  return result;
}

Placement mlir::pol::placement::placeInOrder(const Buffers &buffers,
                                             const std::vector<size_t> &order) {
  Instance instance(buffers);
  std::vector<uint32_t> itemOf(buffers.size(), ~0u), itemOrder;
  for (uint32_t i = 0; i < instance.items.size(); ++i)
    itemOf[instance.items[i].buffer] = i;
  for (size_t buffer : order)
    if (itemOf[buffer] != ~0u)
      itemOrder.push_back(itemOf[buffer]);
  std::vector<int64_t> offsets;
  if (ConflictGraph::count(instance) > maxListedConflicts) {
    placeManyInOrder(instance, itemOrder, offsets);
  } else {
    ConflictGraph graph(instance);
    FirstFit(instance, graph).place(itemOrder, offsets);
  }
  return instance.makePlacement(offsets);
}

//===----------------------------------------------------------------------===//
// Changes of orders
//===----------------------------------------------------------------------===//

namespace {
/// Moves what stands in the way of a lower placement to earlier places of the
/// order, again and again.
class OrderImprovement {
public:
  OrderImprovement(const Instance &instance, const ConflictGraph &graph,
                   const GreedyOptions &options)
      : instance(instance), options(options), firstFit(instance, graph) {
    for (size_t i = 0; i < instance.items.size(); ++i)
      cost += graph[i].size();
  }

  void run();

  int64_t bestHeight = INT64_MAX;
  std::vector<int64_t> bestOffsets;

private:
  /// Steps that all trials may take together: a fraction of a second.
  static constexpr int64_t maxCost = 8000000;

  bool isLowEnough() const {
    return bestHeight <= std::max(options.capacity, instance.lowerBound);
  }
  bool evaluate(const std::vector<uint32_t> &order, int64_t limit);
  void change(std::vector<uint32_t> &order);

  const Instance &instance;
  const GreedyOptions &options;
  FirstFit firstFit;
  int64_t cost = 1;
  Random random{1};
  /// Of the placement that was evaluated last.
  int64_t height = 0;
  std::vector<int64_t> offsets;
};
} // namespace

/// Whether the order's placement is not above the limit.
bool OrderImprovement::evaluate(const std::vector<uint32_t> &order,
                                int64_t limit) {
  height = firstFit.place(order, offsets, limit);
  if (height < bestHeight) {
    bestHeight = height;
    bestOffsets = offsets;
  }
  return height <= limit;
}

/// Takes an item that ends at the top, and has it go before a random one that
/// goes before it.
void OrderImprovement::change(std::vector<uint32_t> &order) {
  std::vector<size_t> tops;
  for (size_t place = 1; place < order.size(); ++place)
    if (offsets[order[place]] + instance.items[order[place]].size == height)
      tops.push_back(place);
  size_t from = tops.empty() || random.below(4) == 0
                    ? random.below(order.size())
                    : tops[random.below(tops.size())];
  size_t to = random.below(from + 1);
  std::rotate(order.begin() + to, order.begin() + from,
              order.begin() + from + 1);
}

void OrderImprovement::run() {
  bestHeight = placeByTime(instance, bestOffsets);
  std::vector<std::pair<int64_t, std::vector<uint32_t>>> orders;
  for (GreedyOrder order : greedyOrders) {
    orders.emplace_back(0, orderItems(instance, order));
    evaluate(orders.back().second, INT64_MAX);
    orders.back().first = height;
    if (isLowEnough())
      return;
  }
  std::sort(orders.begin(), orders.end());
  int64_t trials = std::min(options.maxTrials, maxCost / cost);
  // Half of the trials for the best order, a fourth for the next, and so on.
  for (auto &[limit, order] : orders) {
    evaluate(order, INT64_MAX);
    std::vector<int64_t> current = offsets;
    int64_t currentHeight = height;
    for (int64_t i = 0; i < (trials + 1) / 2 && !isLowEnough(); ++i) {
      std::vector<uint32_t> changed = order;
      offsets = current;
      height = currentHeight;
      change(changed);
      if (!evaluate(changed, currentHeight))
        continue;
      order = std::move(changed);
      current = offsets;
      currentHeight = height;
    }
    trials /= 2;
    if (isLowEnough())
      return;
  }
}

void mlir::pol::placement::placeBest(const Instance &instance,
                                     const ConflictGraph &graph,
                                     const GreedyOptions &options,
                                     std::vector<int64_t> &offsets) {
  OrderImprovement improvement(instance, graph, options);
  improvement.run();
  offsets = std::move(improvement.bestOffsets);
}

/// Of many items: the run through time is within a few hundredths of the bound
/// when many are live at a time, the order by size when they are not.
static void placeMany(const Instance &instance, const GreedyOptions &options,
                      std::vector<int64_t> &offsets) {
  static constexpr int64_t maxSteps = 40000000;
  int64_t height = placeByTime(instance, offsets);
  int64_t closeEnough = instance.lowerBound + instance.lowerBound / 100;
  if (height <= std::max(options.capacity, closeEnough))
    return;
  std::vector<int64_t> bySize;
  if (placeManyInOrder(instance, orderItems(instance, GreedyOrder::Size),
                       bySize, maxSteps) < height)
    offsets = std::move(bySize);
}

Placement mlir::pol::placement::placeGreedy(const Buffers &buffers,
                                            const GreedyOptions &options) {
  Instance instance(buffers);
  std::vector<int64_t> offsets;
  if (ConflictGraph::count(instance) <= maxListedConflicts) {
    ConflictGraph graph(instance);
    placeBest(instance, graph, options, offsets);
  } else {
    placeMany(instance, options, offsets);
  }
  return instance.makePlacement(offsets);
}
