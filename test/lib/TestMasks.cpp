//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What is said of masks, as functions that can be called.

#include "TestPolDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"
#include "pol/Analysis/MaskAnalysis.h"

using namespace mlir;
using namespace mlir::pol;

/// A mask is a function of a batch, a head, a query, a key and captures.
static bool isMask(func::FuncOp function) {
  auto isIndex = [](Type type) { return type.isIndex(); };
  return !function.isDeclaration() && function.getNumArguments() >= 4 &&
         llvm::all_of(function.getArgumentTypes().take_front(4), isIndex) &&
         function.getNumResults() == 1 &&
         function.getResultTypes().front().isInteger(1);
}

namespace {
/// Adds functions that are asked what a mask says, of the same batch, head and
/// captures.
class Questions {
public:
  explicit Questions(func::FuncOp mask)
      : mask(mask), loc(mask.getLoc()), builder(mask.getContext()),
        analysis(&mask.getBody().front()) {}

  void add() {
    addInfo();
    addAnswers();
    addKept();
  }

private:
  func::FuncOp addFunction(StringRef suffix, ArrayRef<Type> arguments,
                           TypeRange results);
  void addLoop(StringRef suffix, ArrayRef<Type> types,
               function_ref<void(ValueRange, Value, MaskEmitter &)> body);
  void addInfo();
  void addAnswers();
  void addKept();

  func::FuncOp mask;
  Location loc;
  OpBuilder builder;
  MaskAnalysis analysis;
};
} // namespace

func::FuncOp Questions::addFunction(StringRef suffix, ArrayRef<Type> arguments,
                                    TypeRange results) {
  builder.setInsertionPointAfter(mask);
  auto function =
      func::FuncOp::create(builder, loc, (mask.getName() + suffix).str(),
                           builder.getFunctionType(arguments, results));
  builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

/// A function of the batch, the head, captures and more, with a loop over the
/// rows of the first of these.
void Questions::addLoop(
    StringRef suffix, ArrayRef<Type> types,
    function_ref<void(ValueRange, Value, MaskEmitter &)> body) {
  SmallVector<Type> arguments(2, builder.getIndexType());
  llvm::append_range(arguments, mask.getArgumentTypes().drop_front(4));
  size_t numCommon = arguments.size();
  llvm::append_range(arguments, types);
  func::FuncOp function = addFunction(suffix, arguments, {});
  ValueRange common = function.getArguments().take_front(numCommon);
  ValueRange more = function.getArguments().drop_front(numCommon);
  MaskEmitter emitter(analysis, loc, common[0], common[1],
                      common.drop_front(2));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value rows = memref::DimOp::create(builder, loc, more[0], zero);
  auto loop = scf::ForOp::create(builder, loc, zero, rows, one);
  func::ReturnOp::create(builder, loc);
  builder.setInsertionPointToStart(loop.getBody());
  body(more, loop.getInductionVar(), emitter);
}

/// The bits of what is known of all boxes: isFull, isInterval, usesBatch and
/// usesHead.
void Questions::addInfo() {
  Type type = builder.getI32Type();
  addFunction("_info", {}, {type});
  int64_t bits = analysis.isFull() + 2 * analysis.isInterval() +
                 4 * analysis.usesBatch() + 8 * analysis.usesHead();
  Value result = arith::ConstantIntOp::create(builder, loc, bits, 32);
  func::ReturnOp::create(builder, loc, result);
}

/// Of the boxes in rows of four, (first and last query, first and last key):
/// rows of the class, the keys and the queries.
void Questions::addAnswers() {
  auto type = MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic},
                              builder.getIndexType());
  addLoop(
      "_answers", {type, type},
      [&](ValueRange arrays, Value row, MaskEmitter &emitter) {
        SmallVector<Value> columns, box;
        for (int64_t i = 0; i < 5; ++i)
          columns.push_back(arith::ConstantIndexOp::create(builder, loc, i));
        for (Value column : ArrayRef(columns).take_front(4))
          box.push_back(memref::LoadOp::create(builder, loc, arrays[0],
                                               ValueRange{row, column}));
        IndexBounds queries{box[0], box[1]}, keys{box[2], box[3]};
        Value tileClass = emitter.getClass(builder, queries, keys);
        IndexBounds someKeys = emitter.getKeys(builder, queries, keys);
        IndexBounds someQueries = emitter.getQueries(builder, queries, keys);
        tileClass = arith::IndexCastOp::create(
            builder, loc, builder.getIndexType(), tileClass);
        SmallVector<Value> answers = {tileClass, someKeys.begin, someKeys.end,
                                      someQueries.begin, someQueries.end};
        for (auto [column, value] : llvm::zip_equal(columns, answers))
          memref::StoreOp::create(builder, loc, value, arrays[1],
                                  ValueRange{row, column});
      });
}

/// Of rows of a query and a key: whether it is kept.
void Questions::addKept() {
  Type positions = MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic},
                                   builder.getIndexType());
  Type kept = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  addLoop("_kept", {positions, kept},
          [&](ValueRange arrays, Value row, MaskEmitter &emitter) {
            SmallVector<Value> position;
            for (int64_t i = 0; i < 2; ++i) {
              Value column = arith::ConstantIndexOp::create(builder, loc, i);
              position.push_back(memref::LoadOp::create(
                  builder, loc, arrays[0], ValueRange{row, column}));
            }
            Value value = arith::ExtUIOp::create(
                builder, loc, builder.getI8Type(),
                emitter.isKept(builder, position[0], position[1]));
            memref::StoreOp::create(builder, loc, value, arrays[1], row);
          });
}

namespace {
struct TestMasks : PassWrapper<TestMasks, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestMasks)

  StringRef getArgument() const override { return "test-pol-masks"; }
  StringRef getDescription() const override {
    return "Add functions that say what functions that are masks keep of boxes";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect,
                    memref::MemRefDialect, scf::SCFDialect>();
  }
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (isMask(function))
        Questions(function).add();
  }
};
} // namespace

void mlir::pol::test::registerTestMasks() { PassRegistration<TestMasks>(); }
