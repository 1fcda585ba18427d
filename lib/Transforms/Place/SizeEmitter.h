//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Sizes as code.

#ifndef POL_LIB_TRANSFORMS_PLACE_SIZEEMITTER_H
#define POL_LIB_TRANSFORMS_PLACE_SIZEEMITTER_H

#include "pol/Analysis/SizeAnalysis.h"

namespace mlir::pol {

/// Emits what computes sizes, each part once, where the builder is.
class SizeEmitter {
public:
  SizeEmitter(OpBuilder &builder, Location loc, ValueRange parameters)
      : builder(builder), loc(loc), parameters(parameters) {}

  /// As an i64.
  Value get(Size size);
  /// As an index.
  Value getIndex(Size size);
  /// An i64 that is -1 where the bytes overflow.
  Value getBytes(Size size);

private:
  Value emit(Size size, ArrayRef<Value> operands);
  Value emitDivision(Size size, Value a, Value b);
  Value emitBytes(Size size, Value a, Value b);
  Value constant(int64_t value);

  OpBuilder &builder;
  Location loc;
  SmallVector<Value> parameters;
  DenseMap<Size, Value> values, indices;
};

/// The parameters of a function's sizes as i64, from its arguments.
SmallVector<Value> emitSizeParameters(OpBuilder &builder, Location loc,
                                      func::FuncOp function);

} // namespace mlir::pol

#endif // POL_LIB_TRANSFORMS_PLACE_SIZEEMITTER_H
