//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Prints which tiles of attention its mask empties, keeps in part and in full.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "pol/Analysis/TileClasses.h"
#include "pol/IR/PolOps.h"
#include "pol/Transforms/Passes.h"

namespace mlir::pol {
#define GEN_PASS_DEF_PRINTTILECLASSES
#include "pol/Transforms/Passes.h.inc"
} // namespace mlir::pol

using namespace mlir;
using namespace mlir::pol;

namespace {
struct PrintTileClasses : pol::impl::PrintTileClassesBase<PrintTileClasses> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override;
  void runOnOperation() override {
    WalkResult walked = getOperation().walk([&](Operation *op) {
      LogicalResult printed = success();
      if (auto attention = dyn_cast<AttentionOp>(op))
        printed = print(attention);
      else if (auto gradient = dyn_cast<AttentionGradOp>(op))
        printed = print(gradient);
      return WalkResult(printed);
    });
    if (walked.wasInterrupted())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  template <typename OpTy> LogicalResult print(OpTy op);
  FailureOr<int64_t> getExtent(Operation *op, Value array, int64_t option,
                               StringRef name);
};
} // namespace

/// The pass writes of one op after the other, in the order of the module.
LogicalResult PrintTileClasses::initialize(MLIRContext *context) {
  std::pair<StringRef, int64_t> sizes[] = {{"tile-queries", tileQueries},
                                           {"tile-keys", tileKeys}};
  for (auto [name, size] : sizes)
    if (size < 1)
      return emitError(UnknownLoc::get(context))
             << "expected option '" << name << "' to be at least 1, but got "
             << size;
  return success();
}

/// Of the queries, or the keys.
FailureOr<int64_t> PrintTileClasses::getExtent(Operation *op, Value array,
                                               int64_t option, StringRef name) {
  auto type = cast<ShapedType>(array.getType());
  if (!type.isDynamicDim(2))
    return type.getDimSize(2);
  if (option < 0)
    return op->emitOpError("expected option '")
           << name << "', but got none, and a dynamic extent";
  return option;
}

template <typename OpTy> LogicalResult PrintTileClasses::print(OpTy op) {
  StringRef form = op.getCausal()     ? "causal"
                   : op.getQLengths() ? "q_lengths"
                   : op.getKLengths() ? "k_lengths"
                                      : "";
  if (!form.empty())
    return op.emitOpError("expected no short forms of a mask, which "
                          "--pol-expand-attention-forms expands, but got '")
           << form << "'";
  TileGrid grid;
  FailureOr<int64_t> numQueries =
      getExtent(op, op.getQ(), queries, queries.getArgStr());
  FailureOr<int64_t> numKeys = getExtent(op, op.getK(), keys, keys.getArgStr());
  if (failed(numQueries) || failed(numKeys))
    return failure();
  grid.queries = *numQueries;
  grid.keys = *numKeys;
  grid.tileQueries = tileQueries;
  grid.tileKeys = tileKeys;
  grid.batch = batch;
  grid.head = head;
  grid.firstQuery = firstQuery;
  APInt position;
  if (op.getInputPos() &&
      matchPattern(op.getInputPos(), m_ConstantInt(&position)))
    grid.firstQuery = position.getSExtValue();
  MaskAnalysis analysis(op.getMask().empty() ? nullptr : &op.getMask().front());
  llvm::errs() << op->getName();
  if (auto function = op->template getParentOfType<func::FuncOp>())
    llvm::errs() << " in @" << function.getName();
  llvm::errs() << ", batch " << grid.batch << ", head " << grid.head << "\n";
  printTileClasses(llvm::errs(), analysis, op.getLoc(), op.getCaptures(), grid,
                   !countsOnly);
  return success();
}
