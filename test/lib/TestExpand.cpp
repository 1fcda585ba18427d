//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An expansion of a test kernel that adds buffers and copies.

#include "TestPolDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::pol::test;

/// Writes x[N] to y[N] by way of more buffers than it takes, of all kinds: two
/// that are hidden, one that is a tile, and one that a description has.
static void expandScale(ScaleOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<MemRefType>(op.getX().getType());
  SmallVector<Value> extents;
  if (type.isDynamicDim(0))
    extents.push_back(memref::DimOp::create(builder, loc, op.getX(), 0));
  Value buffer = memref::AllocOp::create(builder, loc, type, extents);
  memref::AllocaOp::create(builder, loc,
                           MemRefType::get(16, type.getElementType()));
  Value heap = ThreadHeapOp::create(
      builder, loc, HeapType::get(builder.getContext(), Attribute()));
  for (auto [size, role] :
       {std::pair(4, BufferRole::Hidden), std::pair(8, BufferRole::Scratch)})
    AllocOp::create(builder, loc, MemRefType::get(size, type.getElementType()),
                    heap, Value(), ValueRange(), StringAttr(), StringAttr(),
                    BufferRoleAttr::get(builder.getContext(), role));
  memref::CopyOp::create(builder, loc, op.getX(), buffer);
  // Of a place that nobody said.
  linalg::CopyOp::create(builder, builder.getUnknownLoc(), buffer, op.getY());
  op.erase();
}

namespace {
struct TestExpandScale : PassWrapper<TestExpandScale, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestExpandScale)

  StringRef getArgument() const override { return "test-pol-expand-scale"; }
  StringRef getDescription() const override {
    return "Expand test_pol.scale, with hidden buffers and copies";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect,
                    memref::MemRefDialect, PolDialect>();
  }
  void runOnOperation() override { getOperation().walk(expandScale); }
};
} // namespace

void mlir::pol::test::registerTestExpandScale() {
  PassRegistration<TestExpandScale>();
}
