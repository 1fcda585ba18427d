//===- Array.cpp - Arrays on the host -------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Array.h"

#include "Message.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#ifdef __unix__
#include <unistd.h>
#endif

using namespace llvm;
using namespace pol_run;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct DTypeInfo {
  DType dtype;
  const char *name;
  int64_t size;
};
} // namespace

static constexpr DTypeInfo dtypeInfos[] = {
    {DType::F16, "f16", 2}, {DType::BF16, "bf16", 2}, {DType::F32, "f32", 4},
    {DType::F64, "f64", 8}, {DType::I1, "i1", 1},     {DType::I8, "i8", 1},
    {DType::I16, "i16", 2}, {DType::I32, "i32", 4},   {DType::I64, "i64", 8}};

static const DTypeInfo &getInfo(DType dtype) {
  const DTypeInfo &info = dtypeInfos[static_cast<size_t>(dtype)];
  assert(info.dtype == dtype && "the table must be in the enum's order");
  return info;
}

StringRef pol_run::getName(DType dtype) { return getInfo(dtype).name; }

int64_t pol_run::getElementSize(DType dtype) { return getInfo(dtype).size; }

bool pol_run::isFloat(DType dtype) { return dtype <= DType::F64; }

std::optional<DType> pol_run::parseDType(StringRef name) {
  if (name == "index")
    return DType::I64;
  for (const DTypeInfo &info : dtypeInfos)
    if (name == info.name)
      return info.dtype;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sixteen-bit floats
//===----------------------------------------------------------------------===//

// Integer arithmetic rather than a compiler's half type: not every host
// compiler has one, and going through float would round twice.
template <unsigned exponentBits, unsigned mantissaBits>
static uint16_t roundDouble(double value) {
  constexpr int bias = (1 << (exponentBits - 1)) - 1;
  constexpr uint64_t infinity = ((uint64_t(1) << exponentBits) - 1)
                                << mantissaBits;
  constexpr unsigned dropped = 52 - mantissaBits;

  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  uint64_t sign = (bits >> 63) << 15;
  int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  uint64_t fraction = bits & maskTrailingOnes<uint64_t>(52);

  if (exponent == 1024) {
    // A NaN is made quiet, since cutting its payload could leave infinity.
    uint64_t quiet = uint64_t(1) << (mantissaBits - 1);
    uint64_t payload = fraction ? (fraction >> dropped) | quiet : 0;
    return static_cast<uint16_t>(sign | infinity | payload);
  }

  // Below the normal range more bits are dropped, and the exponent stays.
  int shift = dropped;
  int biased = exponent + bias;
  if (biased < 1) {
    shift += 1 - biased;
    biased = 1;
  }
  if (shift > 53) // Less than half of the smallest subnormal.
    return static_cast<uint16_t>(sign);

  uint64_t significand = fraction | uint64_t(1) << 52;
  uint64_t rounded = significand >> shift;
  uint64_t rest = significand & maskTrailingOnes<uint64_t>(shift);
  uint64_t half = uint64_t(1) << (shift - 1);
  if (rest > half || (rest == half && (rounded & 1)))
    ++rounded;
  // The leading one of `rounded` adds into the exponent, as does a carry.
  uint64_t result = (uint64_t(biased - 1) << mantissaBits) + rounded;
  return static_cast<uint16_t>(sign | std::min(result, infinity));
}

template <unsigned exponentBits, unsigned mantissaBits>
static double widen(uint16_t bits) {
  constexpr int bias = (1 << (exponentBits - 1)) - 1;
  constexpr int maxExponent = (1 << exponentBits) - 1;
  int exponent = bits >> mantissaBits & maxExponent;
  uint64_t mantissa = bits & maskTrailingOnes<uint64_t>(mantissaBits);
  if (exponent == 0) {
    double magnitude = std::ldexp(static_cast<double>(mantissa),
                                  1 - bias - static_cast<int>(mantissaBits));
    return bits >> 15 ? -magnitude : magnitude;
  }
  uint64_t wide = exponent == maxExponent ? 0x7ff : exponent - bias + 1023;
  uint64_t result =
      uint64_t(bits >> 15) << 63 | wide << 52 | mantissa << (52 - mantissaBits);
  double value;
  std::memcpy(&value, &result, sizeof(value));
  return value;
}

uint16_t pol_run::doubleToF16(double value) {
  return roundDouble<5, 10>(value);
}
uint16_t pol_run::doubleToBF16(double value) {
  return roundDouble<8, 7>(value);
}
double pol_run::f16ToDouble(uint16_t bits) { return widen<5, 10>(bits); }
double pol_run::bf16ToDouble(uint16_t bits) { return widen<8, 7>(bits); }

//===----------------------------------------------------------------------===//
// Shapes and sizes
//===----------------------------------------------------------------------===//

std::string pol_run::formatType(DType dtype, ArrayRef<int64_t> shape) {
  std::string result;
  for (int64_t dimension : shape)
    result += itostr(dimension) + "x";
  return result + getName(dtype).str();
}

Expected<int64_t> pol_run::computeByteSize(DType dtype,
                                           ArrayRef<int64_t> shape) {
  if (shape.size() > Array::maxRank)
    return makeError("expected at most " + Twine(Array::maxRank) +
                     " dimensions, but got " + Twine(shape.size()));
  int64_t size = getElementSize(dtype);
  bool empty = false;
  for (int64_t dimension : shape) {
    if (dimension < 0)
      return makeError("expected a non-negative dimension, but got '" +
                       Twine(dimension) + "'");
    empty |= dimension == 0;
    if (MulOverflow(size, std::max<int64_t>(dimension, 1), size))
      return makeError("expected an array of less than 2^63 bytes, but got '" +
                       formatType(dtype, shape) + "'");
  }
  return empty ? 0 : size;
}

/// What the machine could hold at all. Asking for more is an error of the
/// user's that deserves a message, and not every allocator refuses it.
static int64_t getMemoryLimit() {
#if defined(__unix__) && defined(_SC_PHYS_PAGES)
  int64_t pages = sysconf(_SC_PHYS_PAGES);
  int64_t pageSize = sysconf(_SC_PAGESIZE);
  int64_t limit;
  if (pages > 0 && pageSize > 0 && !MulOverflow(pages, pageSize, limit))
    return limit;
#endif
  return int64_t(1) << 36;
}

//===----------------------------------------------------------------------===//
// Array
//===----------------------------------------------------------------------===//

void Array::Deleter::operator()(char *pointer) const {
  ::operator delete(pointer, std::align_val_t(alignment));
}

Array::Array(DType dtype, ArrayRef<int64_t> shape, int64_t numElements,
             char *memory)
    : dtype(dtype), shape(shape), numElements(numElements), storage(memory) {}

Array::Array(Array &&other)
    : dtype(other.dtype), shape(std::move(other.shape)),
      numElements(std::exchange(other.numElements, 0)),
      storage(std::move(other.storage)) {}

Array &Array::operator=(Array &&other) {
  dtype = other.dtype;
  shape = std::move(other.shape);
  numElements = std::exchange(other.numElements, 0);
  storage = std::move(other.storage);
  return *this;
}

Expected<Array> Array::create(DType dtype, ArrayRef<int64_t> shape) {
  Expected<int64_t> size = computeByteSize(dtype, shape);
  if (!size)
    return size.takeError();
  int64_t limit = getMemoryLimit();
  if (*size > limit)
    return makeError("expected an array that fits in the " + Twine(limit) +
                     " bytes of this machine's memory, but got '" +
                     formatType(dtype, shape) + "' of " + Twine(*size) +
                     " bytes");
  // One byte at least: compiled code gets a real pointer even to no elements.
  size_t bytes = std::max<int64_t>(*size, 1);
  void *memory =
      ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
  if (!memory)
    return makeError("cannot allocate " + Twine(bytes) + " bytes for '" +
                     formatType(dtype, shape) + "'");
  std::memset(memory, 0, bytes);
  return Array(dtype, shape, *size / getElementSize(dtype),
               static_cast<char *>(memory));
}

Expected<Array> Array::clone() const {
  Expected<Array> copy = create(dtype, shape);
  if (copy)
    std::memcpy(copy->data(), data(), getByteSize());
  return copy;
}

SmallVector<int64_t> Array::getStrides() const {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

MutableArrayRef<char> Array::bytes() {
  return {data(), static_cast<size_t>(getByteSize())};
}
ArrayRef<char> Array::bytes() const {
  return {data(), static_cast<size_t>(getByteSize())};
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <typename T> static T load(const Array &array, int64_t index) {
  assert(index >= 0 && index < array.getNumElements() && "out of bounds");
  T value;
  std::memcpy(&value, array.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T> static void store(Array &array, int64_t index, T value) {
  assert(index >= 0 && index < array.getNumElements() && "out of bounds");
  std::memcpy(array.data() + index * sizeof(T), &value, sizeof(T));
}

/// C's conversion, but defined for every value.
static int64_t saturate(double value, unsigned bits) {
  if (std::isnan(value))
    return 0;
  // Both bounds are powers of two, so the comparisons are exact.
  double bound = std::ldexp(1.0, bits - 1);
  if (value >= bound)
    return maxIntN(bits);
  if (value <= -bound)
    return minIntN(bits);
  return static_cast<int64_t>(value);
}

double Array::getDouble(int64_t index) const {
  switch (dtype) {
  case DType::F16:
    return f16ToDouble(load<uint16_t>(*this, index));
  case DType::BF16:
    return bf16ToDouble(load<uint16_t>(*this, index));
  case DType::F32:
    return load<float>(*this, index);
  case DType::F64:
    return load<double>(*this, index);
  default:
    return static_cast<double>(getInt(index));
  }
}

void Array::setDouble(int64_t index, double value) {
  switch (dtype) {
  case DType::F16:
    return store<uint16_t>(*this, index, doubleToF16(value));
  case DType::BF16:
    return store<uint16_t>(*this, index, doubleToBF16(value));
  case DType::F32:
    return store<float>(*this, index, static_cast<float>(value));
  case DType::F64:
    return store<double>(*this, index, value);
  case DType::I1:
    return store<uint8_t>(*this, index, value != 0);
  default:
    return setInt(index, saturate(value, 8 * getElementSize(dtype)));
  }
}

int64_t Array::getInt(int64_t index) const {
  switch (dtype) {
  case DType::I1:
    return load<uint8_t>(*this, index) != 0;
  case DType::I8:
    return load<int8_t>(*this, index);
  case DType::I16:
    return load<int16_t>(*this, index);
  case DType::I32:
    return load<int32_t>(*this, index);
  case DType::I64:
    return load<int64_t>(*this, index);
  default:
    return saturate(getDouble(index), 64);
  }
}

void Array::setInt(int64_t index, int64_t value) {
  switch (dtype) {
  case DType::I1:
    return store<uint8_t>(*this, index, value & 1);
  case DType::I8:
    return store<int8_t>(*this, index, static_cast<int8_t>(value));
  case DType::I16:
    return store<int16_t>(*this, index, static_cast<int16_t>(value));
  case DType::I32:
    return store<int32_t>(*this, index, static_cast<int32_t>(value));
  case DType::I64:
    return store<int64_t>(*this, index, value);
  default:
    return setDouble(index, static_cast<double>(value));
  }
}
