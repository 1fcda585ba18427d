//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanFaults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::test;

//===----------------------------------------------------------------------===//
// Changing plans
//===----------------------------------------------------------------------===//

static bool isNamed(Operation *op, StringRef name) {
  if (auto alloc = dyn_cast<AllocOp>(op))
    return alloc.getName() == name;
  if (auto call = dyn_cast<func::CallOp>(op))
    if (("@" + call.getCallee()).str() == name)
      return true;
  auto at = op->getAttrOfType<StringAttr>("at");
  return at && at.getValue() == name;
}

MemoryItem &Planter::item(StringRef name) {
  for (MemoryScope &scope : space().scopes)
    for (MemoryItem &item : scope.items)
      if (isNamed(item.op, name))
        return item;
  llvm::report_fatal_error("no item " + name);
}

MemoryScope &Planter::scope(StringRef name) {
  for (MemoryScope &scope : space().scopes)
    if (isNamed(scope.op, name))
      return scope;
  llvm::report_fatal_error("no scope " + name);
}

Operation *Planter::op(StringRef name) {
  Operation *found = nullptr;
  plan.function.walk([&](Operation *op) {
    if (isNamed(op, name))
      found = op;
  });
  if (!found)
    llvm::report_fatal_error("no op " + name);
  return found;
}

void Planter::endAt(StringRef name, StringRef at) {
  item(name).end = points.getEnd(op(at)) + 1;
}

void Planter::endBefore(StringRef name, StringRef at) {
  item(name).end = points.getStart(op(at));
}

void Planter::beginAt(StringRef name, StringRef at) {
  item(name).begin = points.getStart(op(at));
}

void Planter::inPlace(StringRef name, StringRef of) {
  item(name).inPlaceOf = &item(of) - body().items.data();
}

void Planter::place() {
  unsigned parameters = getSizeParameters(plan.function).size();
  for (MemoryScope &scope : llvm::reverse(space().scopes)) {
    placeItems(sizes(), scope, parameters);
    if (scope.op == plan.function)
      continue;
    scope.stride = sizes().alignBytes(scope.kept);
    for (MemoryScope &outer : space().scopes)
      for (MemoryItem &item : outer.items)
        if (item.op == scope.op) {
          item.bytes = scope.bytes =
              getLoopBytes(sizes(), scope.trips, scope.stride, scope.bytes);
          item.kept = scope.kept =
              getLoopBytes(sizes(), scope.trips, scope.stride, scope.kept);
        }
  }
}

bool Planter::overlap(StringRef one, StringRef other) {
  unsigned count = getSizeParameters(plan.function).size();
  auto getBytes = [&](StringRef name) {
    bool isKept = name.consume_front("kept ");
    return isKept ? item(name).kept : item(name).bytes;
  };
  auto getOffset = [&](StringRef name) {
    name.consume_front("kept ");
    return item(name).offset;
  };
  auto shareAt = [&](const std::vector<int64_t> &parameters) {
    SizeEvaluator evaluate(parameters);
    int64_t a = evaluate(getOffset(one)), b = evaluate(getOffset(other));
    return a < b + evaluate(getBytes(other)) && b < a + evaluate(getBytes(one));
  };
  // Equal ones, and all but one of them.
  for (auto [some, rest] : {std::pair(1, 3000), std::pair(3000, 1)}) {
    std::vector<int64_t> parameters(count, rest);
    if (shareAt(parameters))
      return true;
    for (unsigned i = 0; i < count; ++i) {
      parameters.assign(count, rest);
      parameters[i] = some;
      if (shareAt(parameters))
        return true;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::string mlir::pol::test::inFunction(const std::string &body,
                                        const std::string &results) {
  size_t colon = results.find(" : ");
  std::string types = colon == std::string::npos
                          ? ""
                          : " -> (" + results.substr(colon + 3) + ")";
  return "func.func @f(%s: !pol.arena, %x: memref<64xf32>, %v: f32, %cond: "
         "i1)" +
         types + " {\n%c0 = arith.constant 0 : index\n" +
         "%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index\n" +
         body + results + "\n}\n";
}

std::string mlir::pol::test::alloc(const std::string &name,
                                   const std::string &space,
                                   const std::string &type) {
  return "%" + name + " = pol.alloc " + space + "[] {name = \"" + name +
         "\"} : " + type + " -> memref<64xf32>\n";
}

std::string mlir::pol::test::use(const std::string &name,
                                 const std::string &at) {
  std::string attribute = at.empty() ? "" : " {at = \"" + at + "\"}";
  return "memref.store %v, %" + name + "[%c0]" + attribute +
         " : memref<64xf32>\n";
}

PlantedFault mlir::pol::test::shortened(const std::string &name,
                                        const std::string &program,
                                        const std::string &item,
                                        const std::string &at,
                                        const std::string &other) {
  return {name,
          program,
          [=](Planter &planter) {
            planter.endAt(item, at);
            planter.place();
          },
          {"internal error: the plan of @f is not valid", "both use bytes ["},
          item,
          other};
}

//===----------------------------------------------------------------------===//
// The test
//===----------------------------------------------------------------------===//

ParsedPlan::ParsedPlan(const std::string &program, const std::string &function,
                       PlacementMode mode) {
  context.loadDialect<PolDialect, func::FuncDialect, arith::ArithDialect,
                      memref::MemRefDialect, scf::SCFDialect,
                      linalg::LinalgDialect>();
  module = parseSourceString<ModuleOp>(program, &context, "test");
  auto op =
      module ? module->lookupSymbol<func::FuncOp>(function) : func::FuncOp();
  if (!op)
    return;
  planner = std::make_unique<MemoryPlanner>(*module, mode);
  const FunctionPlan &made = planner->getPlan(op);
  if (!made.unknown)
    plan = made;
}

std::optional<PlanFault> ParsedPlan::verify() {
  return PlanVerifier(*planner, *module).verify(*plan);
}

TEST_P(PlanFaultTest, IsRefused) {
  const PlantedFault &fault = GetParam();
  ParsedPlan parsed(fault.program, fault.function, PlacementMode::Plan);
  ASSERT_TRUE(parsed.plan) << fault.program;
  std::optional<PlanFault> found = parsed.verify();
  ASSERT_FALSE(found) << "the plan was refused as it was: " << found->text;

  Planter planter(*parsed.planner, *parsed.plan);
  if (!fault.one.empty()) {
    EXPECT_FALSE(planter.overlap(fault.one, fault.other));
  }
  fault.plant(planter);
  if (!fault.one.empty()) {
    EXPECT_TRUE(planter.overlap(fault.one, fault.other))
        << "the fault has no consequences";
  }
  found = parsed.verify();
  ASSERT_TRUE(found) << "the fault was not found";
  for (const std::string &word : fault.words)
    EXPECT_NE(found->text.find(word), std::string::npos)
        << found->text << "\nexpected: " << word;
}
