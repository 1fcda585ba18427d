//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_IR_POLINTERFACES_TD
#define POL_IR_POLINTERFACES_TD

include "mlir/IR/OpBase.td"

def Pol_SpaceTypeInterface : TypeInterface<"SpaceTypeInterface"> {
  let cppNamespace = "::mlir::pol";
  let description = [{
    A type whose values are spaces: places that buffers come from. A dialect
    adds a space by implementing this interface on a type of its own. In LLVM
    IR, a value of such a type is a pointer to a `pol_space` (see
    `pol/Runtime/Space.h`), whose operations carve, mark and retract.
  }];
  let methods = [
    InterfaceMethod<[{
        The memory space of the memrefs that come from this space, or a null
        attribute for the default one. Tensors allocated here carry it as their
        encoding, so that it survives function boundaries. Null unless
        implemented.
      }],
      "::mlir::Attribute", "getMemorySpace", (ins), "",
      [{ return ::mlir::Attribute(); }]>,
    InterfaceMethod<[{
        Whether this is a frame: whatever comes from it is reclaimed when the
        region that opened it closes. False unless implemented.
      }],
      "bool", "isFrame", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
        Whether single buffers of this space can be freed before the space
        itself goes (`pol.release`). False unless implemented.
      }],
      "bool", "canRelease", (ins), "", [{ return false; }]>,
  ];
}

def Pol_KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let cppNamespace = "::mlir::pol";
  let description = [{
    An op that is a kernel: it can say which buffers it needs before an instance
    of it exists, from operands, attributes and regions alone, and it can be
    built from those and the buffers. All methods of that are static, in the
    manner of `inferReturnTypes`, so that `pol.outputs "dialect.op"(...)` works
    for every registered op that implements them. What they are asked with is a
    `KernelInvocation`: operands, each present or absent, attributes, regions
    and the location for diagnostics (`pol/IR/PolInterfaces.h`).
  }];
  let methods = [
    StaticInterfaceMethod<[{
        Describes the kernel's outputs, checkpoints and scratch: name, role and
        type of each. Fails with a diagnostic at the invocation's location when
        the operands or attributes do not fit the kernel.
      }],
      "::llvm::LogicalResult", "inferBuffers",
      (ins "::mlir::pol::KernelInvocation":$invocation,
           "::llvm::SmallVectorImpl<::mlir::pol::BufferDescription> &":$buffers)>,
    StaticInterfaceMethod<[{
        Computes the extents of the buffers that `inferBuffers` gave, one list
        per buffer with one entry per dimension, from the shapes of the
        operands. It may build shape arithmetic, but never reads an element.
      }],
      "::llvm::LogicalResult", "reifyBufferShapes",
      (ins "::mlir::OpBuilder &":$builder,
           "::mlir::pol::KernelInvocation":$invocation,
           "::llvm::SmallVectorImpl<::llvm::SmallVector<::mlir::OpFoldResult>> &"
           :$shapes)>,
    StaticInterfaceMethod<[{
        Builds the kernel on the given buffers, which come in the order of
        `inferBuffers`; a null value stands for a buffer that the caller left
        out. Returns the op's results.
      }],
      "::mlir::FailureOr<::mlir::Operation *>", "buildKernel",
      (ins "::mlir::OpBuilder &":$builder,
           "::mlir::pol::KernelInvocation":$invocation,
           "::mlir::ValueRange":$buffers)>,
    InterfaceMethod<[{
        Whether an input and a destination may be the same buffer: the kernel
        reads an element of the former before it writes the same one of the
        latter. Never, unless implemented.
      }],
      "bool", "mayWorkInPlace",
      (ins "::mlir::OpOperand &":$input, "::mlir::OpOperand &":$destination),
      "", [{ return false; }]>,
    InterfaceMethod<[{
        Whether an operand is there for its type alone: what it holds is
        neither read nor written. None is, unless implemented.
      }],
      "bool", "isUnread", (ins "::mlir::OpOperand &":$operand), "",
      [{ return false; }]>,
    InterfaceMethod<[{
        Whether an operand is scratch: written and read, with nothing in it
        before or after. None is, unless implemented.
      }],
      "bool", "isScratch", (ins "::mlir::OpOperand &":$operand), "",
      [{ return false; }]>,
    InterfaceMethod<[{
        Which checkpoint an operand is, of this kernel where it is a
        destination, or of the one whose gradients this computes. None, unless
        implemented.
      }],
      "::mlir::pol::CheckpointName", "getCheckpoint",
      (ins "::mlir::OpOperand &":$operand), "",
      [{ return ::mlir::pol::CheckpointName(); }]>,
    InterfaceMethod<[{
        Which part of a duplicated operand the kernel takes: its shadow, as of
        an output whose gradient it reads, or else its primal. False unless
        implemented.
      }],
      "bool", "takesShadow", (ins "::mlir::OpOperand &":$operand), "",
      [{ return false; }]>,
    InterfaceMethod<[{
        Builds, before the op, what its verifier cannot see: a `pol.check` for
        each relation between its operands that is only known at run time
        (`pol/IR/Checks.h` has helpers). All that it builds computes on extents
        and scalars, and has no effects but that of the checks. None unless
        implemented.
      }],
      "void", "buildChecks", (ins "::mlir::OpBuilder &":$builder), "",
      [{ return; }]>,
  ];
}

#endif // POL_IR_POLINTERFACES_TD
