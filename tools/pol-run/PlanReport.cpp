//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanReport.h"

#include "Message.h"

using namespace pol_run;
using namespace mlir::pol;

llvm::Expected<llvm::DenseMap<unsigned, int64_t>>
pol_run::getFootprints(const PlanDescription &plan,
                       llvm::ArrayRef<int64_t> parameters) {
  SizeEvaluator evaluate(parameters);
  llvm::DenseMap<unsigned, int64_t> footprints;
  for (const PlannedSpace &space : plan.spaces) {
    int64_t bytes = footprints[space.argument] = evaluate(space.bytes);
    if (bytes == SizeExpr::overflow)
      return makeError("expected what '" + plan.function +
                       "' allocates to fit 64 bits");
  }
  return footprints;
}

/// The times that a buffer is there, as far as a report goes into them.
static void addLives(ReportedBuffer &row, int64_t stride) {
  constexpr int64_t most = 1000;
  if (row.times <= 1 || row.times > most)
    return;
  for (int64_t i = 0; i < row.times; ++i)
    row.lives.push_back({row.offset + i * stride, row.begin, row.end});
}

static ReportedSpace reportSpace(const PlannedSpace &plan, int64_t steps,
                                 SizeEvaluator &evaluate) {
  ReportedSpace space;
  space.clock = "op";
  space.peak = evaluate(plan.bytes);
  if (plan.bump)
    space.bump = evaluate(plan.bump);
  for (const PlannedBuffer &buffer : plan.buffers) {
    ReportedBuffer row;
    row.name = buffer.name;
    row.kernel = buffer.kernel;
    row.role = buffer.role;
    row.location = buffer.location;
    row.function = buffer.function;
    row.bytes = evaluate(buffer.bytes);
    row.offset = evaluate(buffer.offset);
    row.times = buffer.times ? evaluate(buffer.times) : 1;
    row.begin = buffer.begin;
    // What is kept is still there at the end.
    row.end = buffer.end == steps ? -1 : buffer.end;
    // On a branch or in a loop that these shapes do not reach.
    if (row.times == 0 || row.bytes == SizeExpr::overflow)
      continue;
    addLives(row, buffer.stride ? evaluate(buffer.stride) : 0);
    space.buffers.push_back(std::move(row));
  }
  return space;
}

/// Steps at which nothing begins or ends are left out, of all spaces alike.
static void compressSteps(llvm::MutableArrayRef<ReportedSpace> spaces,
                          int64_t steps) {
  std::vector<int64_t> times;
  for (const ReportedSpace &space : spaces)
    for (const ReportedBuffer &row : space.buffers) {
      times.push_back(row.begin);
      times.push_back(row.end < 0 ? steps : row.end);
    }
  llvm::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  auto getRank = [&](int64_t time) -> int64_t {
    return std::lower_bound(times.begin(), times.end(), time) - times.begin();
  };
  for (ReportedSpace &space : spaces) {
    for (ReportedBuffer &row : space.buffers) {
      row.begin = getRank(row.begin);
      row.end = row.end < 0 ? -1 : getRank(row.end);
      for (ReportedLife &life : row.lives) {
        life.begin = row.begin;
        life.end = row.end;
      }
    }
    space.steps = times.empty() ? 0 : times.size() - 1;
    space.lowerBound = getLiveSetBound(space);
  }
}

std::vector<ReportedSpace>
pol_run::reportPlan(const PlanDescription &plan,
                    llvm::ArrayRef<int64_t> parameters, llvm::StringRef mode) {
  SizeEvaluator evaluate(parameters);
  std::vector<ReportedSpace> spaces;
  for (const PlannedSpace &planned : plan.spaces) {
    spaces.push_back(reportSpace(planned, plan.steps, evaluate));
    spaces.back().mode = mode == "plan" ? "planned" : mode.str();
  }
  compressSteps(spaces, plan.steps);
  return spaces;
}
