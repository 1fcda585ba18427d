//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The ops of masks, whichever dialect they are of, and what values of a mask
// depend on.

#ifndef POL_LIB_ANALYSIS_MASK_EXPRESSIONS_H
#define POL_LIB_ANALYSIS_MASK_EXPRESSIONS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::pol::mask {

/// What an op of integers does.
enum class OpKind {
  Add,
  Sub,
  Mul,
  Div,
  DivU,
  FloorDiv,
  CeilDiv,
  CeilDivU,
  Rem,
  RemU,
  And,
  Or,
  Xor,
  Shl,
  Shr,
  ShrU,
  Min,
  Max,
  MinU,
  MaxU,
  Abs,
  /// To another width, or to the same: of the sign, or of zeros.
  Cast,
  CastU,
  Compare,
  Select,
  Load,
  Extent,
  Other
};

OpKind getKind(Operation *op);

/// The predicate of a comparison of integers.
arith::CmpIPredicate getPredicate(Operation *compare);

/// The bits of an integer, 64 of an index, 0 of anything else and of more.
unsigned getWidth(Type type);

/// A value that is an integer constant, as a signed number.
std::optional<int64_t> getConstant(Value value);

/// The arguments of a mask before its captures.
enum Argument : unsigned { Batch, Head, Query, Key, FirstCapture };

/// Which of the arguments before its captures a value of a mask depends on.
class Dependences {
public:
  explicit Dependences(Block *mask) : mask(mask) {}

  bool on(Argument argument, Value value) {
    return get(value) & (1u << argument);
  }
  /// On neither the query nor the key.
  bool isUniform(Value value) { return !on(Query, value) && !on(Key, value); }

private:
  unsigned get(Value value);

  Block *mask;
  llvm::DenseMap<Value, unsigned> known;
};

} // namespace mlir::pol::mask

#endif // POL_LIB_ANALYSIS_MASK_EXPRESSIONS_H
