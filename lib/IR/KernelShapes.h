//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The shapes of a kernel's operands against its signature.

#ifndef POL_LIB_IR_KERNELSHAPES_H
#define POL_LIB_IR_KERNELSHAPES_H

#include "pol/IR/KernelSignature.h"
#include "llvm/ADT/SmallVector.h"
#include <array>

namespace mlir::pol {

/// Checks the width of an operand's floats.
LogicalResult verifyWidth(const KernelOperand &operand, ShapedType type,
                          FloatType accumulation, EmitErrorFn emitError);

/// What is known of the extents that a signature's letters stand for, gathered
/// from operand after operand.
class KernelShapes {
public:
  /// Attributes may decide extents; null if there are none.
  KernelShapes(const KernelSignature &signature, DictionaryAttr attributes)
      : signature(signature), attributes(attributes) {}

  /// Takes the shape of an operand in, or reports that it does not fit.
  LogicalResult add(const KernelOperand &operand, ShapedType type,
                    EmitErrorFn emitError);
  /// Checks what holds between extents: one is a multiple of another.
  LogicalResult verify(EmitErrorFn emitError) const;
  /// The shape of an operand, with the extents of those that came first.
  SmallVector<int64_t> getShape(const KernelOperand &operand) const;

private:
  struct Extent {
    bool isBound = false;
    /// Of the first operand that has it, and of any.
    int64_t first = ShapedType::kDynamic;
    int64_t known = ShapedType::kDynamic;
  };
  Extent &get(char letter) { return extents[letter - 'A']; }
  const Extent &get(char letter) const { return extents[letter - 'A']; }
  LogicalResult verifyBroadcast(EmitErrorFn emitError) const;
  int64_t getExtent(char letter, int64_t Extent::*value) const;
  bool bind(Extent &extent, int64_t value);
  bool bindDimension(char letter, int64_t value);
  void print(raw_ostream &os, const KernelOperand &operand) const;

  const KernelSignature &signature;
  DictionaryAttr attributes;
  std::array<Extent, 'z' - 'A' + 1> extents;
  SmallVector<Extent> leading;
  bool hasLeading = false;
};

} // namespace mlir::pol

#endif // POL_LIB_IR_KERNELSHAPES_H
