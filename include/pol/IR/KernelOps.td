//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_KERNELOPS_TD
#define POL_IR_KERNELOPS_TD

include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pol/IR/PolTypes.td"

def Pol_KernelFloat : AnyTypeOf<[F16, BF16, F32, F64], "f16, bf16, f32 or f64">;
def Pol_KernelBuffer : AnyTypeOf<[
    RankedTensorOf<[Pol_KernelFloat]>, MemRefOf<[Pol_KernelFloat]>],
    "tensor or memref of f16, bf16, f32 or f64">;
// What is read may be duplicated: it stands for its primal, or, where it is the
// gradient of an output, for its shadow.
def Pol_KernelInput : AnyTypeOf<[
    RankedTensorOf<[Pol_KernelFloat]>, MemRefOf<[Pol_KernelFloat]>,
    Pol_DuplicatedType],
    "tensor or memref of f16, bf16, f32 or f64, or such with its shadow">;
def Pol_Lengths : AnyTypeOf<[
    RankedTensorOf<[I32, I64]>, MemRefOf<[I32, I64]>],
    "tensor or memref of i32 or i64">;

def Pol_TileLists : AnyTypeOf<[RankedTensorOf<[I32]>, MemRefOf<[I32]>],
    "tensor or memref of i32">;

// An op whose operands and their relations are those of its signature
// (pol/IR/KernelSignature.h). What is particular to it are its attributes,
// which `verifyOptions` checks.
class Pol_KernelOp<string mnemonic, list<Trait> traits = []>
    : Pol_Op<mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<Pol_KernelOpInterface,
            ["buildChecks", "getCheckpoint", "isScratch", "isUnread", "mayWorkInPlace",
             "takesShadow"]>])> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    static const KernelSignature &getSignature();
    LogicalResult verifyOptions();
    MutableOperandRange getDpsInitsMutable();
  }];
  let extraClassDefinition = [{
    ParseResult $cppClass::parse(OpAsmParser &parser, OperationState &result) {
      return parseKernel(parser, result, getSignature());
    }
    void $cppClass::print(OpAsmPrinter &printer) {
      printKernel(printer, *this, getSignature());
    }
    LogicalResult $cppClass::verify() {
      return failure(failed(verifyKernel(*this, getSignature())) ||
                     failed(verifyOptions()));
    }
    MutableOperandRange $cppClass::getDpsInitsMutable() {
      return getKernelInits(*this, getSignature());
    }
    void $cppClass::getEffects(
        SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
      getKernelEffects(*this, getSignature(), effects);
    }
    bool $cppClass::mayWorkInPlace(OpOperand &input, OpOperand &destination) {
      return mayKernelWorkInPlace(getSignature(), input, destination);
    }
    bool $cppClass::isScratch(OpOperand &operand) {
      return isKernelScratch(getSignature(), operand);
    }
    bool $cppClass::isUnread(OpOperand &operand) {
      return isKernelUnread(getSignature(), operand);
    }
    void $cppClass::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                MLIRContext *context) {
      populateKernelCanonicalizationPatterns(patterns, getOperationName(),
                                             getSignature());
    }
    bool $cppClass::takesShadow(OpOperand &operand) {
      return takesKernelShadow(getSignature(), operand);
    }
    CheckpointName $cppClass::getCheckpoint(OpOperand &operand) {
      return getKernelCheckpoint(getSignature(), operand);
    }
    void $cppClass::buildChecks(OpBuilder &builder) {
      buildKernelChecks(builder, *this, getSignature());
    }
    LogicalResult $cppClass::inferBuffers(
        KernelInvocation invocation,
        SmallVectorImpl<BufferDescription> &buffers) {
      return inferKernelBuffers(getSignature(), invocation, buffers);
    }
    LogicalResult $cppClass::reifyBufferShapes(
        OpBuilder &builder, KernelInvocation invocation,
        SmallVectorImpl<SmallVector<OpFoldResult>> &shapes) {
      return reifyKernelBuffers(getSignature(), builder, invocation, shapes);
    }
    FailureOr<Operation *> $cppClass::buildKernel(
        OpBuilder &builder, KernelInvocation invocation, ValueRange buffers) {
      return buildKernelOp(getSignature(), builder, invocation, buffers);
    }
  }];
}

include "pol/IR/AttentionOps.td"
include "pol/IR/NormOps.td"

#endif // POL_IR_KERNELOPS_TD
