//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_POLOPS_H
#define POL_IR_POLOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pol/IR/KernelSignature.h"
#include "pol/IR/PolTypes.h"

namespace mlir::pol {
class DescribeOp;
class YieldOp;

/// The description of a function, beside it in its module, or null.
class DescriptionOp;
DescriptionOp lookupDescription(func::FuncOp function);
} // namespace mlir::pol

#define GET_OP_CLASSES
#include "pol/IR/PolOps.h.inc"

namespace mlir::pol {

/// The type a kernel accumulates in: f64 for f64, else f32.
FloatType getAccumulationType(Type elementType);

/// One extent of a tensor, memref or description, built where it is dynamic.
OpFoldResult getExtent(OpBuilder &builder, Location loc, Value shaped,
                       int64_t dimension);

/// A kernel as the verbs see it: what it takes and what it describes.
struct Kernel {
  /// Exactly one of these is set.
  func::FuncOp function;
  DescriptionOp description;
  std::optional<RegisteredOperationName> op;
  SmallVector<BufferDescription> buffers;

  /// Finds the kernel a verb names and checks its inputs, with a diagnostic.
  static FailureOr<Kernel> resolve(Operation *verb, Attribute name,
                                   const KernelInvocation &invocation);
  /// The bundle type of the buffers of a role. Of those that the kernel can do
  /// without, only the ones that `given` has, if there is one.
  BundleType getBundleType(MLIRContext *context, BufferRole role,
                           BundleType given = {}) const;
  bool hasRole(BufferRole role) const;
  /// Whether there are buffers of a role that the kernel cannot do without.
  bool needsRole(BufferRole role) const;
  /// The bundle type of the buffers themselves: what the function's arguments
  /// are, or what an op's description becomes in a space.
  BundleType getBufferBundleType(BufferRole role, SpaceTypeInterface space,
                                 TypeRange inputs) const;
  /// The type of a function's argument that a buffer is passed as.
  Type getArgumentType(StringAttr buffer) const;
};

/// A kernel's name as it reads in messages: `@f` or `"pol.rms_norm"`.
std::string getKernelName(Attribute name);
/// The bare name, as reports and `pol.alloc` have it.
StringAttr getBareKernelName(Attribute name);

} // namespace mlir::pol

#endif // POL_IR_POLOPS_H
