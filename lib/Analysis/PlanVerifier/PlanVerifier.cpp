//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/PlanVerifier.h"
#include "SpaceVerifier.h"

using namespace mlir;
using namespace mlir::pol;

PlanVerifier::PlanVerifier(MemoryPlanner &planner, ModuleOp module)
    : planner(planner), tracer(std::make_unique<ReferenceTracer>(module)) {}

PlanVerifier::~PlanVerifier() = default;

/// Constants that a plan's sizes are compared with.
static SmallVector<int64_t> getThresholds(const SpacePlan &plan) {
  SmallVector<Size> exprs = {plan.getBytes(), plan.getKept()};
  for (const MemoryScope &scope : plan.scopes)
    for (const MemoryItem &item : scope.items)
      exprs.append({item.offset, item.bytes, item.kept});
  llvm::SmallSetVector<int64_t, 8> found;
  for (Size expr : inOrder(exprs)) {
    bool compares = expr->op >= SizeOp::Equal && expr->op <= SizeOp::LessEqualU;
    for (Size operand : expr->operands)
      if (compares && operand->isConstant() && found.size() < 8)
        found.insert(operand->value);
  }
  return found.takeVector();
}

/// Valuations of the parameters: equal ones and mixed ones, small ones, large
/// ones, ones whose products overflow, negative ones, and those around what the
/// plan compares with.
static std::vector<std::vector<int64_t>> getSamples(unsigned count,
                                                    const SpacePlan &plan) {
  std::vector<std::vector<int64_t>> samples;
  if (count == 0)
    return {{}};
  for (int64_t value :
       {int64_t(0), int64_t(1), int64_t(2), int64_t(7), int64_t(64),
        int64_t(1000), int64_t(1) << 20, int64_t(1) << 31, int64_t(1) << 55,
        INT64_MAX, int64_t(-1)})
    samples.emplace_back(count, value);
  for (int64_t threshold : getThresholds(plan))
    for (int64_t value : {threshold - 1, threshold, threshold + 1})
      samples.emplace_back(count, value);
  static const int64_t primes[] = {3, 127, 11, 509, 2, 1021, 31, 5};
  static const int64_t mixed[] = {0, 1, 8192, 17, 1, 300, -1, 1 << 30};
  for (unsigned phase = 0; phase < 8; ++phase) {
    std::vector<int64_t> one, two;
    for (unsigned i = 0; i < count; ++i) {
      one.push_back(primes[(i + phase) % 8]);
      two.push_back(mixed[(3 * i + phase) % 8]);
    }
    samples.push_back(std::move(one));
    samples.push_back(std::move(two));
  }
  // Each of the first few alone large, and alone small.
  for (unsigned i = 0; i < std::min(count, 8u); ++i)
    for (auto [value, others] : {std::pair(4096, 3), std::pair(3, 4096)}) {
      samples.emplace_back(count, others);
      samples.back()[i] = value;
    }
  return samples;
}

static std::string describeSizes(ArrayRef<int64_t> parameters) {
  if (parameters.empty())
    return "";
  std::string text;
  for (int64_t value : parameters)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return ", where the sizes are " + text;
}

std::optional<PlanFault> PlanVerifier::verify(const FunctionPlan &plan) {
  if (plan.unknown)
    return std::nullopt;
  func::FuncOp function = plan.function;
  auto fail = [&](PlanFault fault, const std::string &more) {
    fault.text = ("internal error: the plan of @" + function.getSymName() +
                  " is not valid: " + fault.text + more)
                     .str();
    return fault;
  };
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
    if (MemoryPlanner::isPlanned(type) && !plan.find(number))
      return fail({function.getLoc(),
                   "space " + std::to_string(number) + " has no plan"},
                  "");
  UseTimes times(function);
  unsigned count = getSizeParameters(function).size();
  for (const SpacePlan &space : plan.spaces) {
    UseFinder finder(*tracer, function, times, space);
    if (auto fault = finder.run())
      return fail(*fault, "");
    for (const std::vector<int64_t> &sample : getSamples(count, space))
      if (auto fault =
              PlaceChecker(planner, space, finder.uses, times, sample).run())
        return fail(*fault, describeSizes(sample));
  }
  return std::nullopt;
}
