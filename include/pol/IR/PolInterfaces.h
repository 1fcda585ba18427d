//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The two ways into the dialect from outside: a type that is a space, and an op
// that is a kernel.

#ifndef POL_IR_POLINTERFACES_H
#define POL_IR_POLINTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "pol/IR/PolEnums.h.inc"

namespace mlir::pol {

/// One buffer that a kernel needs: an `!pol.undef`, or, of a function, a bundle
/// of them.
struct BufferDescription {
  StringAttr name;
  BufferRole role;
  Type type;
  /// Whether the kernel can be called without it.
  bool isOptional = false;
};

/// What a kernel op is asked with before an instance of it exists.
struct KernelInvocation {
  Location loc;
  /// The operands that are present.
  ValueRange operands;
  /// For each operand of the op's signature whether it is present; empty when
  /// all operands given are the leading ones of the signature.
  ArrayRef<bool> present;
  DictionaryAttr attributes;
  RegionRange regions;

  /// The number of operand positions spoken for, absent ones included.
  unsigned getNumPositions() const {
    return present.empty() ? operands.size() : present.size();
  }
  /// The operand at a position of the signature, null if absent.
  Value getOperand(unsigned position) const;
  /// The attribute of that name, null if absent.
  Attribute getAttr(StringRef name) const {
    return attributes ? attributes.get(name) : Attribute();
  }
};

/// Which checkpoint an operand is: that of a forward kernel, under its name
/// there. No checkpoint has no kernel.
struct CheckpointName {
  StringRef kernel;
  StringRef name;
  bool operator==(const CheckpointName &other) const {
    return kernel == other.kernel && name == other.name;
  }
};

/// Checks that an attribute may be the memory space of a memref.
LogicalResult verifyMemorySpace(function_ref<InFlightDiagnostic()> emitError,
                                Attribute memorySpace);

} // namespace mlir::pol

#include "pol/IR/PolOpInterfaces.h.inc"
#include "pol/IR/PolTypeInterfaces.h.inc"

#endif // POL_IR_POLINTERFACES_H
