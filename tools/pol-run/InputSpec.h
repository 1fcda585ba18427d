//===- InputSpec.h - Inputs from the command line ---------------*- C++ -*-===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of pol-run's --input:
//
//   spec  ::= path                  ends in ".npy" or names what exists
//           | type "=" fill
//   type  ::= (dimension "x")* dtype
//   dtype ::= f16 | bf16 | f32 | f64 | i1 | i8 | i16 | i32 | i64 | index
//   fill  ::= "zeros" | "ones" | "iota" | "const:" number
//           | "random:" seed | "uniform:" seed | "normal:" seed
//           | number                only where there are no dimensions
//
// index is i64. iota counts 0, 1, 2, ... in row-major order; integers keep the
// low bits, floats round. random and uniform are the same: floats are uniform
// in [-1, 1), i1 is a fair coin, other integers are uniform over 0 to 9. normal
// is the standard normal distribution, for floats only. A seed is a decimal
// below 2^64, and gives the same values on every machine (see Random.h).
//
//===----------------------------------------------------------------------===//

#ifndef POL_TOOLS_POL_RUN_INPUTSPEC_H
#define POL_TOOLS_POL_RUN_INPUTSPEC_H

#include "Array.h"
#include "Npy.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>

namespace pol_run {

/// Read or make the array that the text describes. A number must fit its type:
/// a float may round, but not to infinity; an integer may be signed or
/// unsigned.
llvm::Expected<Array> loadInput(llvm::StringRef spec,
                                const NpyReadOptions &options = {});

/// What an entry function's signature says of an argument. Absent means any.
struct Expectation {
  /// A dimension of any size; MLIR's ShapedType::kDynamic.
  static constexpr int64_t dynamic = INT64_MIN;

  std::optional<DType> dtype;
  std::optional<llvm::SmallVector<int64_t>> shape;
};

/// Fails where the array is not as expected, with a message like
/// "input 1 ('%y'): expected 4x?xf32, but got 4x8xf64", which begins with
/// `argumentName`.
llvm::Error checkArray(const Array &array, const Expectation &expectation,
                       llvm::StringRef argumentName);

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_INPUTSPEC_H
