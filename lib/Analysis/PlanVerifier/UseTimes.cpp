//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UseTimes.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

/// An op takes its inputs at first, which is a time of its own, so that what
/// works in place can take them over.
void UseTimes::number(Operation *op, int64_t &now) {
  int64_t begin = now++;
  byTime[begin] = op;
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      int64_t first = now++;
      for (Operation &inner : block)
        number(&inner, now);
      blocks[&block] = {first, ++now};
    }
  ops[op] = {begin, ++now};
}

UseTimes::UseTimes(func::FuncOp function) {
  int64_t now = 0;
  number(function, now);
}

Operation *UseTimes::getOp(int64_t time) const {
  auto next = byTime.upper_bound(time);
  if (next == byTime.begin())
    return nullptr;
  Operation *op = std::prev(next)->second;
  while (op->getParentOp() && ops.contains(op->getParentOp()) &&
         ops.at(op).end <= time)
    op = op->getParentOp();
  return op;
}

bool UseTimes::isChoice(Operation *op) {
  auto branch = dyn_cast<RegionBranchOpInterface>(op);
  if (!branch)
    return false;
  for (Region &region : op->getRegions()) {
    if (!region.empty() && !region.hasOneBlock())
      return false;
    SmallVector<RegionSuccessor> successors;
    branch.getSuccessorRegions(region, successors);
    for (const RegionSuccessor &successor : successors)
      if (!successor.isParent())
        return false;
  }
  return true;
}

Region *UseTimes::getTrip(Operation *op) {
  Region *region = op->getParentRegion();
  while (!isa<func::FuncOp>(region->getParentOp()) &&
         isChoice(region->getParentOp()))
    region = region->getParentRegion();
  return region;
}

//===----------------------------------------------------------------------===//
// Use
//===----------------------------------------------------------------------===//

/// Notes an access in all blocks around it. What is accessed on any trip of
/// another loop is in use for all of them.
void UseTimes::touch(Operation *access, Region *trip,
                     TouchedOps &touched) const {
  SmallVector<Operation *> path;
  for (Operation *op = access;; op = op->getParentOp()) {
    if (op != access && !isChoice(op))
      path.clear();
    path.push_back(op);
    if (op->getParentRegion() == trip)
      break;
  }
  for (Operation *op : path) {
    Touched &entry = touched[op->getBlock()]
                         .try_emplace(ops.at(op).begin, Touched{op, false})
                         .first->second;
    entry.isWhole |= op == path.front();
  }
}

void UseTimes::visitOp(const Touched &entry, bool before, bool after,
                       const TouchedOps &touched, TimeSpans &spans) const {
  TimeSpan all = ops.at(entry.op);
  if (entry.isWhole) {
    spans.push_back(all);
    return;
  }
  if (before)
    spans.push_back({all.begin, all.begin + 1});
  for (Region &region : entry.op->getRegions())
    if (!region.empty())
      visit(&region.front(), before, after, touched, spans);
  if (after)
    spans.push_back({all.end - 1, all.end});
}

/// The times in a block, where the memory is in use or not right before it, and
/// right after.
void UseTimes::visit(Block *block, bool before, bool after,
                     const TouchedOps &touched, TimeSpans &spans) const {
  TimeSpan all = blocks.at(block);
  auto found = touched.find(block);
  if (found == touched.end()) {
    if (before && after)
      spans.push_back(all);
    return;
  }
  int64_t time = all.begin;
  size_t left = found->second.size();
  for (const auto &[begin, entry] : found->second) {
    if (before && time < begin)
      spans.push_back({time, begin});
    visitOp(entry, before, after || --left > 0, touched, spans);
    time = ops.at(entry.op).end;
    before = true;
  }
  if (after)
    spans.push_back({time, all.end});
}

TimeSpans UseTimes::find(Operation *source, ArrayRef<Operation *> accesses,
                         bool toTheEnd) const {
  Region *trip = getTrip(source);
  TouchedOps touched;
  for (Operation *access : accesses)
    // What comes before the source is an access to memory of an earlier trip.
    if (ops.at(access).begin >= ops.at(source).begin &&
        trip->isAncestor(access->getParentRegion()))
      touch(access, trip, touched);
  TimeSpans spans;
  Block *block = &trip->front();
  if (touched.empty()) {
    int64_t end = blocks.at(block).end;
    if (toTheEnd)
      spans.push_back({end - 1, end});
    return spans;
  }
  visit(block, /*before=*/false, toTheEnd, touched, spans);
  TimeSpans merged;
  for (TimeSpan span : spans) {
    if (!merged.empty() && span.begin <= merged.back().end)
      merged.back().end = std::max(merged.back().end, span.end);
    else
      merged.push_back(span);
  }
  return merged;
}
