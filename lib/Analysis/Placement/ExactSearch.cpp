//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExactSearch.h"
#include "Random.h"

#include <algorithm>
#include <limits>

using namespace mlir::pol::placement;

/// Above all offsets, with room for a size.
static constexpr int64_t never = std::numeric_limits<int64_t>::max() / 2;

//===----------------------------------------------------------------------===//
// Sections
//===----------------------------------------------------------------------===//

ExactSearch::ExactSearch(const Instance &instance, const ConflictGraph &graph)
    : instance(instance), graph(graph), numItems(instance.items.size()),
      numWords((numItems + 63) / 64) {
  for (const Item &item : instance.items) {
    size.push_back(item.size);
    alignment.push_back(item.alignment);
  }
  neighbors.assign(numItems * numWords, 0);
  for (uint32_t i = 0; i < numItems; ++i)
    for (const Conflict &other : graph[i])
      neighbors[i * numWords + other.item / 64] |= Word(1) << (other.item % 64);
  conflict.assign(numWords, 0);
  scratch.assign(numWords, 0);
  addSections();
}

/// Each two that conflict make for a change, which keeps a set of decisions.
bool ExactSearch::isPossible(const Instance &instance,
                             const ConflictGraph &graph) {
  uint64_t numConflicts = 0, numItems = instance.items.size();
  for (size_t i = 0; i < numItems; ++i)
    numConflicts += graph[i].size();
  return numItems < 100000 &&
         (numConflicts / 2 + 2 * numItems) * (numItems + 63) / 64 <= 1u << 25;
}

/// Goes through time with the items that are in use.
void ExactSearch::addSections() {
  std::vector<std::vector<uint32_t>> starting(instance.numTimes),
      ending(instance.numTimes);
  for (uint32_t i = 0; i < numItems; ++i)
    for (const Piece &piece : instance.getPieces(instance.items[i])) {
      starting[piece.begin].push_back(i);
      ending[piece.end].push_back(i);
    }
  std::vector<uint32_t> current;
  for (uint32_t time = 0; time < instance.numTimes; ++time) {
    for (uint32_t item : ending[time])
      current.erase(std::lower_bound(current.begin(), current.end(), item));
    for (uint32_t item : starting[time])
      current.insert(std::lower_bound(current.begin(), current.end(), item),
                     item);
    if (!current.empty())
      addSection(current);
  }
  sectionsOf.resize(numItems);
  for (uint32_t s = 0; s < sections.size(); ++s)
    for (uint32_t item : sections[s].items)
      sectionsOf[item].push_back(s);
  isMarked.assign(sections.size(), false);
}

/// A section whose items are all in another one says nothing more than that.
/// Without gaps it is enough to compare it with the one before.
void ExactSearch::addSection(const std::vector<uint32_t> &items) {
  auto isPartOf = [](const auto &a, const auto &b) {
    return std::includes(b.begin(), b.end(), a.begin(), a.end());
  };
  while (!sections.empty() && isPartOf(sections.back().items, items))
    sections.pop_back();
  if (!sections.empty() && isPartOf(items, sections.back().items))
    return;
  sections.emplace_back();
  sections.back().items = items;
}

void ExactSearch::reset(const Strategy &strategy, double noise, uint64_t seed) {
  low.assign(numItems, 0);
  base.assign(numItems, 0);
  reasons.assign(numItems * numWords, 0);
  isPlaced.assign(numItems, false);
  placedSet.assign(numWords, 0);
  numPlaced = 0;
  numNodes = 0;
  changes.clear();
  changedWords.clear();
  decisions.clear();
  clearMarks();
  for (uint32_t s = 0; s < sections.size(); ++s) {
    Section &section = sections[s];
    // Runs leave them in any order.
    std::sort(section.items.begin(), section.items.end());
    section.numOpen = section.items.size();
    section.bytes = 0;
    for (uint32_t item : section.items)
      section.bytes += size[item];
    mark(s);
  }
  selection = strategy.selection;
  Random random(seed);
  priority.assign(numItems, 0);
  for (uint32_t i = 0; i < numItems; ++i) {
    if (strategy.priority == Strategy::Priority::Conflicts)
      priority[i] = graph[i].size();
    else
      priority[i] = sectionsOf[i].size();
    if (strategy.priority == Strategy::Priority::Area)
      priority[i] *= size[i];
    priority[i] *= 1 + noise * random.uniform();
  }
}

void ExactSearch::mark(uint32_t section) {
  if (isMarked[section])
    return;
  isMarked[section] = true;
  marked.push_back(section);
}

void ExactSearch::clearMarks() {
  for (uint32_t section : marked)
    isMarked[section] = false;
  marked.clear();
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

/// The item is at this offset or above, because of some decisions.
bool ExactSearch::raise(uint32_t item, int64_t offset, const ItemSet &why) {
  offset = alignUp(offset, alignment[item]);
  int64_t old = low[item];
  if (offset <= old)
    return true;
  if (offset > capacity - size[item]) {
    conflict = why;
    return false;
  }
  changes.push_back({item, false, old});
  changedWords.insert(changedWords.end(), reasonsOf(item),
                      reasonsOf(item) + numWords);
  low[item] = offset;
  std::copy(why.begin(), why.end(), reasonsOf(item));
  for (uint32_t s : sectionsOf[item]) {
    const Section &section = sections[s];
    // Otherwise it neither bounds the section nor is bounded by it.
    if (old <= section.low2 || old + size[item] <= section.end2 ||
        offset > capacity - section.bytes)
      mark(s);
  }
  return true;
}

/// The open items of a section are stacked above the lowest offset of all.
bool ExactSearch::propagateSection(uint32_t index) {
  Section &section = sections[index];
  int64_t low1 = never, low2 = never, end1 = never, end2 = never, highest = 0;
  for (uint32_t k = 0; k < section.numOpen; ++k) {
    uint32_t item = section.items[k];
    int64_t offset = low[item], end = offset + size[item];
    low2 = std::min(low2, std::max(low1, offset));
    low1 = std::min(low1, offset);
    end2 = std::min(end2, std::max(end1, end));
    end1 = std::min(end1, end);
    highest = std::max(highest, offset);
  }
  section.low1 = low1;
  section.low2 = low2;
  section.end1 = end1;
  section.end2 = end2;
  // Where the lowest of them has to be.
  int64_t latest = capacity - section.bytes;
  if (section.numOpen == 0 || highest <= latest)
    return true;
  if (low1 <= latest)
    return raiseAboveLowest(index);
  std::fill(conflict.begin(), conflict.end(), 0);
  for (uint32_t k = 0; k < section.numOpen; ++k)
    joinReasons(conflict, section.items[k]);
  (*weights)[index] += 1;
  return false;
}

/// What cannot be the lowest of the section is above the end of another.
bool ExactSearch::raiseAboveLowest(uint32_t index) {
  const Section &section = sections[index];
  int64_t latest = capacity - section.bytes;
  bool hasReasons = false;
  for (uint32_t k = 0; k < section.numOpen; ++k) {
    uint32_t item = section.items[k];
    if (low[item] <= latest)
      continue;
    int64_t offset =
        low[item] + size[item] == section.end1 ? section.end2 : section.end1;
    if (alignUp(offset, alignment[item]) <= low[item])
      continue;
    if (!hasReasons) {
      std::fill(scratch.begin(), scratch.end(), 0);
      for (uint32_t j = 0; j < section.numOpen; ++j)
        joinReasons(scratch, section.items[j]);
      hasReasons = true;
    }
    if (!raise(item, offset, scratch)) {
      (*weights)[index] += 1;
      return false;
    }
  }
  return true;
}

/// The lowest end of the open items that the item could rest on if it is not
/// on a placed one. Adds to the reasons why it is not below that.
int64_t ExactSearch::findSupport(uint32_t item, ItemSet &why) {
  int64_t support = never;
  for (const Conflict &other : graph[item])
    if (!isPlaced[other.item])
      support = std::min(support, low[other.item] + size[other.item]);
  joinReasons(why, item);
  for (size_t i = 0; i < numWords; ++i)
    why[i] |= neighbors[item * numWords + i] & placedSet[i];
  for (const Conflict &other : graph[item])
    if (!isPlaced[other.item] && size[other.item] < support)
      joinReasons(why, other.item);
  return support;
}

/// An item that is above all placed ones has to rest on an open one.
bool ExactSearch::propagateSupport(uint32_t item) {
  int64_t support = never;
  for (uint32_t s : sectionsOf[item]) {
    const Section &section = sections[s];
    int64_t end =
        low[item] + size[item] == section.end1 ? section.end2 : section.end1;
    support = std::min(support, end);
  }
  if (support <= low[item])
    return true;
  std::fill(scratch.begin(), scratch.end(), 0);
  support = findSupport(item, scratch);
  if (support != never)
    return raise(item, support, scratch);
  conflict = scratch;
  return false;
}

bool ExactSearch::propagate() {
  do {
    while (!marked.empty()) {
      uint32_t section = marked.back();
      marked.pop_back();
      isMarked[section] = false;
      if (!propagateSection(section)) {
        clearMarks();
        return false;
      }
    }
    for (uint32_t item = 0; item < numItems; ++item) {
      if (isPlaced[item] || alignUp(base[item], alignment[item]) == low[item])
        continue;
      if (!propagateSupport(item)) {
        clearMarks();
        return false;
      }
    }
  } while (!marked.empty());
  return true;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// It would rest on what is placed, and nothing open fits below it.
bool ExactSearch::isEligible(uint32_t item) const {
  if (alignUp(base[item], alignment[item]) != low[item])
    return false;
  for (uint32_t section : sectionsOf[item])
    if (sections[section].end1 <= low[item])
      return false;
  return true;
}

/// Nothing open could go where it would be.
bool ExactSearch::isFree(uint32_t item) const {
  int64_t end = low[item] + size[item];
  for (uint32_t s : sectionsOf[item]) {
    const Section &section = sections[s];
    if ((section.low1 == low[item] ? section.low2 : section.low1) < end)
      return false;
  }
  return true;
}

bool ExactSearch::goesBefore(uint32_t a, uint32_t b) const {
  return low[a] < low[b] || (low[a] == low[b] && priority[a] > priority[b]);
}

/// There is an eligible item as long as there is an open one: of those that
/// would end lowest, one is.
uint32_t ExactSearch::choose() const {
  bool lowest = selection == Strategy::Selection::Lowest;
  std::optional<uint32_t> best;
  for (uint32_t item = 0; item < numItems; ++item) {
    if (isPlaced[item] || (lowest && best && !goesBefore(item, *best)))
      continue;
    if (!isEligible(item))
      continue;
    if (isFree(item))
      return item;
    if (lowest)
      best = item;
  }
  return best ? *best : chooseCritical();
}

uint32_t ExactSearch::chooseCritical() const {
  const Section *critical = nullptr;
  double best = -1;
  for (size_t s = 0; s < sections.size(); ++s) {
    const Section &section = sections[s];
    if (section.numOpen == 0)
      continue;
    double total = capacity;
    double height = section.low1 / total;
    double room = (capacity - section.bytes - section.low1) / total;
    double value = (*weights)[s] / ((1 + 8 * room) * (0.1 + height));
    if (value <= best)
      continue;
    best = value;
    critical = &section;
  }
  std::optional<uint32_t> first, firstEligible;
  for (uint32_t k = 0; k < critical->numOpen; ++k) {
    uint32_t item = critical->items[k];
    if (!first || goesBefore(item, *first))
      first = item;
    if (selection == Strategy::Selection::EligibleCritical &&
        isEligible(item) &&
        (!firstEligible || goesBefore(item, *firstEligible)))
      firstEligible = item;
  }
  return firstEligible ? *firstEligible : findEligibleBelow(*first);
}

/// What is not eligible has open ones that fit below it; they end lower.
uint32_t ExactSearch::findEligibleBelow(uint32_t item) const {
  while (!isEligible(item)) {
    std::optional<uint32_t> below;
    for (const Conflict &other : graph[item])
      if (!isPlaced[other.item] &&
          low[other.item] + size[other.item] <= low[item] &&
          (!below || goesBefore(other.item, *below)))
        below = other.item;
    if (!below)
      break;
    item = *below;
  }
  return item;
}

//===----------------------------------------------------------------------===//
// Decisions
//===----------------------------------------------------------------------===//

bool ExactSearch::place(uint32_t item) {
  decisions.push_back({item, changes.size(), changedWords.size()});
  ++numNodes;
  ++numPlaced;
  isPlaced[item] = true;
  placedSet[item / 64] |= Word(1) << (item % 64);
  for (uint32_t s : sectionsOf[item]) {
    Section &section = sections[s];
    auto it = std::find(section.items.begin(), section.items.end(), item);
    std::swap(*it, section.items[--section.numOpen]);
    section.bytes -= size[item];
    mark(s);
  }
  if (raiseAbove(item))
    return propagate();
  clearMarks();
  return false;
}

bool ExactSearch::raiseAbove(uint32_t placed) {
  int64_t offset = low[placed], end = offset + size[placed];
  for (const Conflict &conflict : graph[placed]) {
    uint32_t other = conflict.item;
    if (isPlaced[other])
      continue;
    if (base[other] < end) {
      changes.push_back({other, true, base[other]});
      base[other] = end;
    }
    if (low[other] >= end)
      continue;
    // It does not fit below the placed one: not even at 0, or for the reasons
    // of its lowest offset.
    std::fill(scratch.begin(), scratch.end(), 0);
    if (size[other] <= offset)
      joinReasons(scratch, other);
    scratch[placed / 64] |= Word(1) << (placed % 64);
    if (!raise(other, end, scratch))
      return false;
  }
  return true;
}

/// Takes the last decision back.
void ExactSearch::retract() {
  Decision decision = decisions.back();
  decisions.pop_back();
  size_t words = changedWords.size();
  while (changes.size() > decision.numChanges) {
    Change change = changes.back();
    changes.pop_back();
    if (change.isBase) {
      base[change.item] = change.old;
      continue;
    }
    low[change.item] = change.old;
    words -= numWords;
    std::copy_n(changedWords.begin() + words, numWords, reasonsOf(change.item));
    for (uint32_t s : sectionsOf[change.item])
      mark(s);
  }
  changedWords.resize(decision.numChangedWords);
  uint32_t item = decision.item;
  // In each section it is the first behind the open ones.
  for (uint32_t s : sectionsOf[item]) {
    ++sections[s].numOpen;
    sections[s].bytes += size[item];
    mark(s);
  }
  isPlaced[item] = false;
  placedSet[item / 64] &= ~(Word(1) << (item % 64));
  --numPlaced;
}

/// Goes back to the last decision of the conflict, whose item cannot be where
/// it was for the reasons that remain: so it rests on an open one. There is no
/// placement if no decision is left.
bool ExactSearch::resolveConflict() {
  while (true) {
    uint32_t item;
    do {
      if (decisions.empty())
        return false;
      item = decisions.back().item;
      retract();
    } while (!(conflict[item / 64] >> (item % 64) & 1));
    conflict[item / 64] &= ~(Word(1) << (item % 64));
    int64_t support = findSupport(item, conflict);
    if (support == never)
      continue;
    scratch = conflict;
    if (raise(item, support, scratch) && propagate())
      return true;
  }
}

ExactSearch::Result ExactSearch::run(int64_t capacity, const Strategy &strategy,
                                     std::vector<double> &weights, double noise,
                                     uint64_t seed, int64_t maxNodes) {
  this->capacity = capacity;
  this->weights = &weights;
  reset(strategy, noise, seed);
  if (std::any_of(size.begin(), size.end(),
                  [&](int64_t size) { return size > capacity; }))
    return Result::Infeasible;
  bool holds = propagate();
  while (true) {
    if (!holds && !resolveConflict())
      return Result::Infeasible;
    if (numPlaced == numItems)
      return Result::Found;
    if (numNodes >= maxNodes)
      return Result::Limit;
    if (deadline && numNodes % 32 == 0 && Clock::now() > *deadline)
      return Result::Limit;
    holds = place(choose());
  }
}
