//===- Array.h - Arrays on the host -----------------------------*- C++ -*-===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arrays that pol-run reads, makes, passes to compiled code and writes:
// dense, row-major, owned, and aligned as the runtime's arenas are.
//
//===----------------------------------------------------------------------===//

#ifndef POL_TOOLS_POL_RUN_ARRAY_H
#define POL_TOOLS_POL_RUN_ARRAY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace pol_run {

/// Element types. Integers are signless, as in MLIR: an unsigned file is read
/// bit for bit, and the program decides what the bits mean. I1 takes a byte
/// that is 0 or 1, which is how compiled code lays out a memref of i1.
enum class DType { F16, BF16, F32, F64, I1, I8, I16, I32, I64 };

/// MLIR's name of the type: "f16", "bf16", ..., "i64".
llvm::StringRef getName(DType dtype);

/// The type of that name ("index" is I64), or none.
std::optional<DType> parseDType(llvm::StringRef name);

/// Bytes of one element.
int64_t getElementSize(DType dtype);

bool isFloat(DType dtype);

/// Round a double once, to nearest, ties to even, to the bits of a half or a
/// bfloat16; beyond the largest finite value lies infinity. A NaN stays one.
uint16_t doubleToF16(double value);
uint16_t doubleToBF16(double value);

/// The value of the bits; always exact.
double f16ToDouble(uint16_t bits);
double bf16ToDouble(uint16_t bits);

/// MLIR's spelling of a shape and element type: "4x8xf32", "f32" at rank 0.
std::string formatType(DType dtype, llvm::ArrayRef<int64_t> shape);

/// The number of bytes of such an array. Fails on a negative dimension, on
/// more than maxRank dimensions, and where the bytes do not fit in 63 bits
/// with each zero dimension counted as one: the strides of an empty array must
/// fit too.
llvm::Expected<int64_t> computeByteSize(DType dtype,
                                        llvm::ArrayRef<int64_t> shape);

/// A move-only array.
class Array {
public:
  static constexpr size_t alignment = 256;
  /// NumPy's own limit.
  static constexpr size_t maxRank = 64;

  /// An array of zeros. Fails as computeByteSize does, and where the array
  /// is larger than the machine's memory or the allocation fails.
  static llvm::Expected<Array> create(DType dtype,
                                      llvm::ArrayRef<int64_t> shape);

  Array(Array &&other);
  Array &operator=(Array &&other);

  llvm::Expected<Array> clone() const;

  DType getDType() const { return dtype; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return static_cast<int64_t>(shape.size()); }
  int64_t getNumElements() const { return numElements; }
  int64_t getByteSize() const { return numElements * getElementSize(dtype); }
  /// Row-major strides, in elements.
  llvm::SmallVector<int64_t> getStrides() const;
  std::string getTypeString() const { return formatType(dtype, shape); }

  /// The elements; not null even where there are none.
  char *data() { return storage.get(); }
  const char *data() const { return storage.get(); }
  llvm::MutableArrayRef<char> bytes();
  llvm::ArrayRef<char> bytes() const;

  /// Element `index` in row-major order as a double, which only an i64 may
  /// not fit exactly.
  double getDouble(int64_t index) const;
  /// Set it from a double: floats round to nearest, ties to even; integers
  /// truncate, saturate at the signed range, and take 0 for a NaN; i1 is
  /// whether the value differs from 0.
  void setDouble(int64_t index, double value);

  /// The same for integers: sign-extended (i1 is 0 or 1) ...
  int64_t getInt(int64_t index) const;
  /// ... and cut to the low bits; a float takes the value through a double.
  void setInt(int64_t index, int64_t value);

private:
  struct Deleter {
    void operator()(char *pointer) const;
  };

  Array(DType dtype, llvm::ArrayRef<int64_t> shape, int64_t numElements,
        char *memory);

  DType dtype;
  llvm::SmallVector<int64_t> shape;
  int64_t numElements;
  std::unique_ptr<char, Deleter> storage;
};

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_ARRAY_H
