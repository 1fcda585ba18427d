//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// How pol's ops bufferize.

#include "pol/Transforms/BufferizableOpInterfaceImpl.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "pol/IR/PolOps.h"

using namespace mlir;
using namespace mlir::pol;
using namespace mlir::bufferization;

static MemRefType getBufferTypeOf(RankedTensorType type) {
  return MemRefType::get(type.getShape(), type.getElementType(),
                         MemRefLayoutAttrInterface(), type.getEncoding());
}

namespace {
/// An alloc is an allocation in the memory space of its space.
struct AllocModel
    : BufferizableOpInterface::ExternalModel<AllocModel, AllocOp> {
  bool bufferizesToAllocation(Operation *, Value) const { return true; }

  bool resultBufferizesToMemoryWrite(Operation *, OpResult,
                                     const AnalysisState &) const {
    return false; // Its contents are undefined.
  }

  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }

  FailureOr<BufferLikeType> getBufferType(Operation *, Value value,
                                          const BufferizationOptions &,
                                          const BufferizationState &,
                                          SmallVector<Value> &) const {
    return cast<BufferLikeType>(
        getBufferTypeOf(cast<RankedTensorType>(value.getType())));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &,
                          BufferizationState &) const {
    auto alloc = cast<AllocOp>(op);
    auto type = dyn_cast<RankedTensorType>(alloc.getType());
    if (!type)
      return success();
    if (alloc.getSpec())
      return op->emitOpError("expected pol-flatten-bundles to run first");
    auto buffer = AllocOp::create(rewriter, op->getLoc(), getBufferTypeOf(type),
                                  alloc.getSpace(), Value(), alloc.getExtents(),
                                  alloc.getNameAttr(), alloc.getKernelAttr(),
                                  alloc.getRoleAttr());
    replaceOpWithBufferizedValues(rewriter, op, buffer.getResult());
    return success();
  }
};

/// The results of a frame or capture are what it yields.
template <typename OpTy>
struct YieldingModel
    : BufferizableOpInterface::ExternalModel<YieldingModel<OpTy>, OpTy> {
  AliasingOpOperandList getAliasingOpOperands(Operation *op, Value value,
                                              const AnalysisState &) const {
    auto result = cast<OpResult>(value);
    OpOperand &operand =
        cast<OpTy>(op).getYield()->getOpOperand(result.getResultNumber());
    return {{&operand, BufferRelation::Equivalent}};
  }

  FailureOr<BufferLikeType>
  getBufferType(Operation *op, Value value, const BufferizationOptions &options,
                const BufferizationState &state,
                SmallVector<Value> &invocationStack) const {
    Value yielded = cast<OpTy>(op).getYield()->getOperand(
        cast<OpResult>(value).getResultNumber());
    if (auto type = dyn_cast<BufferLikeType>(yielded.getType()))
      return type; // The body has been bufferized already.
    return bufferization::getBufferType(yielded, options, state,
                                        invocationStack);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &,
                          BufferizationState &) const {
    OperationState state(op->getLoc(), op->getName(), op->getOperands(),
                         cast<OpTy>(op).getYield().getOperandTypes(),
                         op->getAttrs());
    Region *body = state.addRegion();
    rewriter.inlineRegionBefore(op->getRegion(0), *body, body->end());
    Operation *bufferized = rewriter.create(state);
    replaceOpWithBufferizedValues(rewriter, op, bufferized->getResults());
    return success();
  }
};

/// A yield passes buffers on: it neither reads nor writes them.
struct YieldModel
    : BufferizableOpInterface::ExternalModel<YieldModel, YieldOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true; // What happens to the parent's result may read.
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    return {{op->getParentOp()->getResult(operand.getOperandNumber()),
             BufferRelation::Equivalent}};
  }
  bool mustBufferizeInPlace(Operation *, OpOperand &,
                            const AnalysisState &) const {
    return true; // A copy would be a buffer nobody asked for.
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    SmallVector<Value> buffers;
    for (Value value : op->getOperands()) {
      if (!isa<TensorType>(value.getType())) {
        buffers.push_back(value);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    replaceOpWithNewBufferizedOp<YieldOp>(rewriter, op, buffers);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The memref that a tensor argument of a region becomes: like the buffer of
/// its capture, with the extents that the region knows.
static MemRefType getRegionBufferType(RankedTensorType argument,
                                      MemRefType capture) {
  if (argument.getShape() == capture.getShape())
    return capture;
  MemRefLayoutAttrInterface layout = capture.getLayout();
  if (!layout.isIdentity()) {
    SmallVector<int64_t> strides(argument.getRank(), ShapedType::kDynamic);
    layout = StridedLayoutAttr::get(argument.getContext(), ShapedType::kDynamic,
                                    strides);
  }
  return MemRefType::get(argument.getShape(), argument.getElementType(), layout,
                         capture.getMemorySpace());
}

/// Captures are the last arguments of a region, in the order of operands.
static Value getCapture(Operation *op, BlockArgument argument,
                        OperandRange captures) {
  unsigned fromEnd =
      argument.getOwner()->getNumArguments() - argument.getArgNumber();
  return fromEnd <= captures.size() ? captures[captures.size() - fromEnd]
                                    : Value();
}

/// Makes the tensors among the arguments of regions memrefs. What reads them
/// asks for buffers already.
static void bufferizeRegions(RewriterBase &rewriter, Operation *op,
                             OperandRange captures) {
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    Block &block = region.front();
    rewriter.setInsertionPointToStart(&block);
    for (BlockArgument argument : block.getArguments()) {
      auto tensor = dyn_cast<RankedTensorType>(argument.getType());
      Value capture = getCapture(op, argument, captures);
      if (!tensor || !capture)
        continue;
      argument.setType(
          getRegionBufferType(tensor, cast<MemRefType>(capture.getType())));
      auto asTensor = bufferization::ToTensorOp::create(
          rewriter, argument.getLoc(), tensor, argument);
      rewriter.replaceAllUsesExcept(argument, asTensor.getResult(), asTensor);
    }
  }
}

/// The operands that regions capture; none of a kernel without regions.
template <typename KernelOp> static OperandRange getCaptures(Operation *op) {
  return getKernelOperands(op, KernelOp::getSignature(),
                           KernelClause::Captures);
}

/// A kernel reads its inputs and overwrites its destinations in place. Scratch
/// holds nothing before or after: it is written, never read, so that using it
/// again is no conflict.
template <typename KernelOp>
struct KernelModel
    : DstBufferizableOpInterfaceExternalModel<KernelModel<KernelOp>, KernelOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    auto kernel = cast<KernelOpInterface>(op);
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand) &&
           !kernel.isScratch(operand) && !kernel.isUnread(operand);
  }
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &) const {
    return cast<DestinationStyleOpInterface>(op).isDpsInit(&operand) ||
           cast<KernelOpInterface>(op).isScratch(operand);
  }

  /// A kernel that reads an element of an input before it writes the same one
  /// of a destination may have them in one buffer.
  bool isNotConflicting(Operation *op, OpOperand *read, OpOperand *write,
                        const AnalysisState &state) const {
    return read->getOwner() == op && write->getOwner() == op &&
           cast<KernelOpInterface>(op).mayWorkInPlace(*read, *write) &&
           state.areEquivalentBufferizedValues(read->get(), write->get());
  }

  FailureOr<BufferLikeType>
  getBufferType(Operation *op, Value value, const BufferizationOptions &options,
                const BufferizationState &state,
                SmallVector<Value> &invocationStack) const {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return bufferization::detail::defaultGetBufferType(value, options, state,
                                                         invocationStack);
    Value capture = getCapture(op, argument, getCaptures<KernelOp>(op));
    if (!capture)
      return failure();
    FailureOr<BufferLikeType> type =
        isa<TensorType>(capture.getType())
            ? bufferization::getBufferType(capture, options, state,
                                           invocationStack)
            : dyn_cast<BufferLikeType>(capture.getType());
    auto memref = succeeded(type) ? dyn_cast<MemRefType>(*type) : MemRefType();
    if (!memref)
      return failure();
    return cast<BufferLikeType>(Type(getRegionBufferType(
        cast<RankedTensorType>(argument.getType()), memref)));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto kernel = cast<DestinationStyleOpInterface>(op);
    if (kernel.hasPureBufferSemantics())
      return success();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (!isa<TensorType>(operand.getType())) {
        operands.push_back(operand);
        continue;
      }
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      operands.push_back(*buffer);
    }
    SmallVector<Value> destinations;
    for (OpOperand &init : kernel.getDpsInitsMutable())
      destinations.push_back(operands[init.getOperandNumber()]);

    OperationState newState(op->getLoc(), op->getName(), operands, TypeRange(),
                            op->getAttrs());
    for (Region &region : op->getRegions())
      newState.addRegion()->takeBody(region);
    Operation *onBuffers = rewriter.create(newState);
    bufferizeRegions(rewriter, onBuffers, getCaptures<KernelOp>(onBuffers));
    replaceOpWithBufferizedValues(rewriter, op, destinations);
    return success();
  }
};
} // namespace

template <typename... KernelOps>
static void attachKernelModels(MLIRContext *context) {
  (KernelOps::template attachInterface<KernelModel<KernelOps>>(*context), ...);
}

void mlir::pol::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, PolDialect *) {
    AllocOp::attachInterface<AllocModel>(*context);
    CaptureOp::attachInterface<YieldingModel<CaptureOp>>(*context);
    FrameOp::attachInterface<YieldingModel<FrameOp>>(*context);
    YieldOp::attachInterface<YieldModel>(*context);
    attachKernelModels<AttentionOp, AttentionGradOp, DecodeAttentionOp,
                       LayerNormOp, LayerNormGradOp, RmsNormOp, RmsNormGradOp,
                       SoftmaxOp, SoftmaxGradOp>(context);
  });
}
