//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A buffer of shape S becomes one of S x block in workgroup memory, of which a
// thread has the part with its own number in the last dimension: when all
// threads of a warp access the same element, their addresses are neighbours and
// in different banks.

#include "WorkgroupMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "pol/IR/PolTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pol;

/// Buffers count with the padding that they may need between each other. No
/// number needs more.
static constexpr int64_t kAlignment = 16;

/// The type of a view once its source has another one, of the same shape; null
/// if there is none.
static MemRefType getViewType(Operation *view, MemRefType source) {
  return llvm::TypeSwitch<Operation *, MemRefType>(view)
      .Case([&](memref::SubViewOp op) {
        return memref::SubViewOp::inferRankReducedResultType(
            op.getType().getShape(), source, op.getMixedOffsets(),
            op.getMixedSizes(), op.getMixedStrides());
      })
      .Case([&](memref::CastOp op) {
        auto result = dyn_cast<MemRefType>(op.getType());
        return result
                   ? MemRefType::get(result.getShape(), result.getElementType(),
                                     source.getLayout(),
                                     source.getMemorySpace())
                   : MemRefType();
      })
      .Case([&](memref::CollapseShapeOp op) {
        SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
        return memref::CollapseShapeOp::isGuaranteedCollapsible(source, groups)
                   ? memref::CollapseShapeOp::computeCollapsedType(source,
                                                                   groups)
                   : MemRefType();
      })
      .Case([&](memref::ExpandShapeOp op) {
        return memref::ExpandShapeOp::computeExpandedType(
                   source, op.getResultType().getShape(),
                   op.getReassociationIndices())
            .value_or(MemRefType());
      })
      .Default(MemRefType());
}

namespace {
/// The move of one buffer: first what it would change, then the change.
class Move {
public:
  Move(memref::AllocaOp buffer, int64_t blockSize)
      : buffer(buffer), blockSize(blockSize) {}

  /// Bytes of workgroup memory, if the buffer is one that can move.
  std::optional<int64_t> plan();
  LogicalResult apply(gpu::LaunchOp launch);

private:
  bool planUsers(Value value, MemRefType type);
  MemRefType getSharedType();
  MemRefType getPartType();

  memref::AllocaOp buffer;
  int64_t blockSize;
  /// Views of the buffer, with the types that they get.
  SmallVector<std::pair<Value, MemRefType>> views;
  llvm::SetVector<Operation *> copies;
};
} // namespace

static Attribute getWorkgroupSpace(MLIRContext *context) {
  return gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
}

/// The type of what all threads of a block have together.
MemRefType Move::getSharedType() {
  SmallVector<int64_t> shape(buffer.getType().getShape());
  shape.push_back(blockSize);
  return MemRefType::get(shape, buffer.getType().getElementType(),
                         MemRefLayoutAttrInterface(),
                         getWorkgroupSpace(buffer.getContext()));
}

/// The type of what one thread has.
MemRefType Move::getPartType() {
  MemRefType shared = getSharedType();
  auto layout = StridedLayoutAttr::get(
      buffer.getContext(), ShapedType::kDynamic,
      ArrayRef(shared.getStridesAndOffset().first).drop_back());
  return MemRefType::get(buffer.getType().getShape(), shared.getElementType(),
                         layout, shared.getMemorySpace());
}

std::optional<int64_t> Move::plan() {
  MemRefType type = buffer.getType();
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !type.getElementType().isIntOrIndexOrFloat())
    return std::nullopt;
  FailureOr<std::optional<int64_t>> bytes = getStaticBytes(getSharedType());
  // There are no arrays of no size in PTX.
  if (failed(bytes) || !**bytes || **bytes > kWorkgroupBytes ||
      !planUsers(buffer, getPartType()))
    return std::nullopt;
  return llvm::alignTo(**bytes, kAlignment);
}

/// Whether all users of a buffer or view can take its new type.
bool Move::planUsers(Value value, MemRefType type) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    // Elements are numbers: none of these reads or writes an address. No
    // element is aligned to more than its size any longer.
    if (isa<memref::LoadOp, memref::StoreOp, memref::DimOp>(user))
      return !user->hasAttr("alignment");
    if (auto copy = dyn_cast<memref::CopyOp>(user)) {
      copies.insert(copy);
      return isa<MemRefType>(copy.getSource().getType()) &&
             isa<MemRefType>(copy.getTarget().getType());
    }
    MemRefType view = getViewType(user, type);
    if (!view)
      return false;
    views.emplace_back(user->getResult(0), view);
    return planUsers(user->getResult(0), view);
  });
}

LogicalResult Move::apply(gpu::LaunchOp launch) {
  Location loc = buffer.getLoc();
  Value shared = launch.addWorkgroupAttribution(getSharedType(), loc);
  IRRewriter rewriter(launch.getContext());
  rewriter.setInsertionPointToStart(&launch.getBody().front());
  MemRefType type = buffer.getType();
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(rewriter.getContext(), type.getShape());
  SmallVector<OpFoldResult> strides(type.getRank() + 1,
                                    rewriter.getIndexAttr(1));
  offsets.push_back(launch.getThreadIds().x);
  sizes.push_back(rewriter.getIndexAttr(1));
  Value part = memref::SubViewOp::create(rewriter, loc, getPartType(), shared,
                                         offsets, sizes, strides);
  for (auto [view, viewType] : views)
    view.setType(viewType);
  rewriter.replaceOp(buffer, part);

  // A copy of what is not contiguous would be a call.
  for (Operation *op : copies) {
    auto copy = cast<memref::CopyOp>(op);
    rewriter.setInsertionPoint(copy);
    linalg::LinalgOp generic = linalg::makeMemRefCopyOp(
        rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
    if (failed(linalg::linalgOpToLoops(rewriter, generic)))
      return copy.emitOpError("expected to be expressible as loops");
    rewriter.eraseOp(generic);
    rewriter.eraseOp(copy);
  }
  return success();
}

LogicalResult mlir::pol::moveToWorkgroupMemory(gpu::LaunchOp launch,
                                               int64_t blockSize) {
  // Kernels' own tiles are no buffers of a frame.
  SmallVector<memref::AllocaOp> buffers;
  launch.walk([&](memref::AllocaOp buffer) {
    if (buffer->hasAttr("pol.buffer"))
      buffers.push_back(buffer);
  });
  int64_t left = kWorkgroupBytes;
  for (memref::AllocaOp buffer : buffers) {
    Move move(buffer, blockSize);
    std::optional<int64_t> bytes = move.plan();
    if (!bytes || *bytes > left)
      continue;
    left -= *bytes;
    if (failed(move.apply(launch)))
      return failure();
  }
  return success();
}
