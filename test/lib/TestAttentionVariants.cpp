//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Named masks and scores of attention, as functions.

#include "TestPasses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"
#include "pol/IR/AttentionVariants.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;

namespace {
/// A variant as an attribute says it: its name, and what it is made of.
class Spec {
public:
  explicit Spec(Attribute attribute) : entries(cast<ArrayAttr>(attribute)) {}

  StringRef getName() const { return cast<StringAttr>(entries[0]).getValue(); }
  int64_t getInt(unsigned entry) const {
    return cast<IntegerAttr>(entries[entry]).getInt();
  }
  double getFloat(unsigned entry) const {
    return cast<FloatAttr>(entries[entry]).getValueAsDouble();
  }
  CaptureRef getCapture(unsigned entry) const {
    return {static_cast<unsigned>(getInt(entry))};
  }
  MaskFn getMask() const;
  MaskFn getMask(unsigned entry) const {
    return Spec(entries[entry]).getMask();
  }
  ScoreFn getScore() const;
  ScoreFn getScore(unsigned entry) const {
    return Spec(entries[entry]).getScore();
  }

private:
  ArrayAttr entries;
};
} // namespace

MaskFn Spec::getMask() const {
  StringRef name = getName();
  if (name == "causal")
    return getCausalMask();
  if (name == "window")
    return getWindowMask(getInt(1));
  if (name == "prefix")
    return getPrefixMask(getInt(1));
  if (name == "prefix_of")
    return getPrefixMask(getCapture(1));
  if (name == "prefix_lm")
    return getPrefixLMMask(getInt(1));
  if (name == "prefix_lm_of")
    return getPrefixLMMask(getCapture(1));
  if (name == "document")
    return getDocumentMask(getCapture(1), getCapture(2));
  if (name == "and")
    return getAndMask(getMask(1), getMask(2));
  if (name == "or")
    return getOrMask(getMask(1), getMask(2));
  if (name == "not")
    return getNotMask(getMask(1));
  return getFullMask();
}

ScoreFn Spec::getScore() const {
  StringRef name = getName();
  if (name == "softcap")
    return getSoftcapScore(getFloat(1));
  if (name == "alibi")
    return getALiBiScore(getCapture(1));
  if (name == "bias")
    return getBiasScore(getCapture(1));
  if (name == "relative")
    return getRelativeScore(getCapture(1), getInt(2));
  if (name == "rbf")
    return getRBFScore(getCapture(1), getCapture(2), getCapture(3));
  if (name == "compose")
    return getComposedScore(getScore(1), getScore(2));
  return getPlainScore();
}

/// Fills a declaration with a region that a variant builds.
static LogicalResult buildFunction(func::FuncOp function) {
  ArrayRef<Type> types = function.getArgumentTypes();
  Region &body = function.getBody();
  Location loc = function.getLoc();
  if (Attribute mask = function->getAttr("test.mask")) {
    if (failed(buildMaskRegion(body, loc, types.drop_front(4),
                               Spec(mask).getMask())))
      return failure();
  } else if (Attribute score = function->getAttr("test.score")) {
    if (failed(buildScoreRegion(body, loc, types[0], types.drop_front(5),
                                Spec(score).getScore())))
      return failure();
  } else {
    return success();
  }
  Operation *yield = body.front().getTerminator();
  OpBuilder builder(yield);
  func::ReturnOp::create(builder, loc, yield->getOperands());
  yield->erase();
  return success();
}

namespace {
/// Fills declarations with the attributes `test.mask` and `test.score`, such as
/// `["and", ["causal"], ["document", 0, 0]]`.
struct TestAttentionVariants
    : PassWrapper<TestAttentionVariants, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestAttentionVariants)

  StringRef getArgument() const override {
    return "test-pol-attention-variants";
  }
  StringRef getDescription() const override {
    return "Fill declarations of functions with named masks and scores";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<math::MathDialect, PolDialect>();
  }
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (succeeded(buildFunction(function)))
        continue;
      // What is not complete is not printed.
      function.getBody().getBlocks().clear();
      signalPassFailure();
    }
  }
};
} // namespace

void mlir::pol::test::registerTestAttentionVariants() {
  PassRegistration<TestAttentionVariants>();
}
