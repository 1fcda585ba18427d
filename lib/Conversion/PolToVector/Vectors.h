//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Arithmetic on vectors, and the vectors that rows are made of.

#ifndef POL_LIB_CONVERSION_POLTOVECTOR_VECTORS_H
#define POL_LIB_CONVERSION_POLTOVECTOR_VECTORS_H

#include "../PolToLinalg/Loops.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::pol {

/// Whether vectors of an array's rows can be loaded, and are worth it: elements
/// of the last dimension lie side by side, if there is one, and it may have
/// any.
bool hasVectorRows(Value array);
/// The same of all arrays among an op's operands.
bool hasVectorRows(Operation *op);

/// How stores reach memory.
enum class StoreKind {
  Plain,      ///< through the caches
  NonTemporal ///< past them, to whole aligned vectors
};

/// Arithmetic on vectors of one type, whose elements are what is accumulated
/// in. A mask is null where all lanes are there; others load as 0 and are not
/// stored.
struct VectorBuilder {
  OpBuilder &builder;
  Location loc;
  VectorType type;

  FloatType getElementType() const {
    return cast<FloatType>(type.getElementType());
  }
  int64_t getLanes() const { return type.getDimSize(0); }
  VectorType getMaskType() const {
    return VectorType::get(type.getShape(),
                           IntegerType::get(type.getContext(), 1));
  }

  Value constant(double value);
  /// All lanes the same number.
  Value splat(Value scalar);
  Value add(Value lhs, Value rhs);
  Value subtract(Value lhs, Value rhs);
  Value multiply(Value lhs, Value rhs);
  /// lhs · rhs + addend, rounded once.
  Value fma(Value lhs, Value rhs, Value addend);
  /// The larger one, the second one if the first is NaN: one instruction where
  /// NaN is found otherwise.
  Value larger(Value lhs, Value rhs);
  /// The smaller one, the first one if that is NaN: one instruction, too.
  Value smallerOrNaN(Value lhs, Value rhs);
  Value select(Value mask, Value lhs, Value rhs);
  /// exp, within 1.2 ulp, for what is at most 88 (f64: 709); what is less than
  /// the least number is 0.
  Value exp(Value value);
  /// The same for what is not positive, within 1.2 + |x|/4 ulp, and 0 where
  /// that would be no normal number.
  Value expOfNegative(Value value);

  /// One number of all lanes, in the order of a tree.
  Value sumLanes(Value vector);
  Value maximumLane(Value vector);
  /// The same sums of as many vectors as there are lanes, each in its lane.
  Value sumEach(ArrayRef<Value> vectors);

  /// As many vectors as there are lanes, transposed.
  SmallVector<Value> transpose(ArrayRef<Value> rows);

  /// Consecutive elements of an array, converted from and to their type.
  Value load(Value array, ValueRange indices, Value mask = nullptr);
  void store(Value value, Value array, ValueRange indices, Value mask = nullptr,
             StoreKind kind = StoreKind::Plain);
  /// Brings what is soon to be read into the cache of a level, 1 or 2.
  void prefetch(Value array, ValueRange indices, unsigned level = 2);

private:
  Value foldLanes(Value vector,
                  function_ref<Value(VectorBuilder &, Value, Value)> combine);
  std::pair<Value, Value> exchange(Value first, Value second, int64_t size);
  Value bits(int64_t value);
  Value buildExp(Value value, bool isGradual);
  Value scalePower(Value mantissa, Value shifted, bool isGradual);
  Value evaluate(Value fraction);
};

} // namespace mlir::pol

#endif // POL_LIB_CONVERSION_POLTOVECTOR_VECTORS_H
