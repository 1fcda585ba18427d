//===- ArrayTest.cpp - Arrays on the host ---------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Array.h"

#include "Random.h"
#include "TestSupport.h"
#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace llvm;
using namespace pol_run;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr DType allDTypes[] = {DType::F16, DType::BF16, DType::F32,
                                      DType::F64, DType::I1,   DType::I8,
                                      DType::I16, DType::I32,  DType::I64};

TEST(ArrayTest, NamesAndSizes) {
  for (DType dtype : allDTypes)
    EXPECT_EQ(parseDType(getName(dtype)), dtype);
  EXPECT_EQ(parseDType("index"), DType::I64);
  EXPECT_EQ(parseDType("F32"), std::nullopt);
  EXPECT_EQ(parseDType(""), std::nullopt);
  EXPECT_EQ(getElementSize(DType::BF16), 2);
  EXPECT_EQ(getElementSize(DType::I1), 1);
  EXPECT_EQ(getElementSize(DType::F64), 8);
  EXPECT_EQ(formatType(DType::F32, {4, 8}), "4x8xf32");
  EXPECT_EQ(formatType(DType::I64, {}), "i64");
}

TEST(ArrayTest, CreateIsAlignedAndZero) {
  for (SmallVector<int64_t> shape :
       {SmallVector<int64_t>{}, {1}, {0}, {3, 0, 5}, {7, 5, 3}}) {
    Array array = get(Array::create(DType::I16, shape));
    EXPECT_EQ(array.getShape(), ArrayRef<int64_t>(shape));
    EXPECT_EQ(array.getRank(), static_cast<int64_t>(shape.size()));
    ASSERT_NE(array.data(), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(array.data()) % Array::alignment, 0u);
    EXPECT_EQ(array.getByteSize(), 2 * array.getNumElements());
    for (char byte : array.bytes())
      EXPECT_EQ(byte, 0);
  }
  Array array = get(Array::create(DType::F32, {7, 5, 3}));
  EXPECT_EQ(array.getNumElements(), 105);
  EXPECT_EQ(array.getStrides(), (SmallVector<int64_t>{15, 3, 1}));
  EXPECT_EQ(array.getTypeString(), "7x5x3xf32");
}

TEST(ArrayTest, ImpossibleShapes) {
  constexpr int64_t big = int64_t(1) << 62;
  EXPECT_EQ(messageOf(Array::create(DType::F32, {2, -1})),
            "expected a non-negative dimension, but got '-1'");
  EXPECT_EQ(messageOf(Array::create(DType::I8, {big, 2})),
            "expected an array of less than 2^63 bytes, but got "
            "'4611686018427387904x2xi8'");
  EXPECT_EQ(get(computeByteSize(DType::I8, {INT64_MAX})), INT64_MAX);
  EXPECT_NE(messageOf(computeByteSize(DType::I16, {big})), "success");
  // The strides of an empty array must fit too, wherever the zero is.
  EXPECT_NE(messageOf(computeByteSize(DType::I8, {0, big, big})), "success");
  EXPECT_NE(messageOf(computeByteSize(DType::I8, {big, big, 0})), "success");
  EXPECT_EQ(get(computeByteSize(DType::I8, {0, big})), 0);
  EXPECT_TRUE(StringRef(messageOf(Array::create(DType::I8, {big})))
                  .starts_with("expected an array that fits in the "));

  SmallVector<int64_t> ones(65, 1);
  EXPECT_EQ(messageOf(Array::create(DType::I8, ones)),
            "expected at most 64 dimensions, but got 65");
  ones.pop_back();
  EXPECT_EQ(get(Array::create(DType::I8, ones)).getNumElements(), 1);
}

TEST(ArrayTest, MoveAndClone) {
  Array array = get(Array::create(DType::I32, {2, 2}));
  array.setInt(3, 42);
  Array copy = get(array.clone());
  array.setInt(3, 43);
  EXPECT_EQ(copy.getInt(3), 42);

  const char *data = copy.data();
  Array moved = std::move(copy);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(moved.getInt(3), 42);
  array = std::move(moved);
  EXPECT_EQ(array.data(), data);
  EXPECT_EQ(array.getTypeString(), "2x2xi32");
}

/// Round with LLVM's own arithmetic, which shares nothing with ours.
static uint16_t roundWithAPFloat(double value, const fltSemantics &semantics) {
  APFloat number(value);
  bool losesInfo;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

TEST(ArrayTest, EverySixteenBitFloatSurvives) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    double half = f16ToDouble(bits);
    double brain = bf16ToDouble(bits);
    if (std::isnan(half))
      EXPECT_TRUE(std::isnan(f16ToDouble(doubleToF16(half))));
    else
      EXPECT_EQ(doubleToF16(half), bits);
    if (std::isnan(brain))
      EXPECT_TRUE(std::isnan(bf16ToDouble(doubleToBF16(brain))));
    else
      EXPECT_EQ(doubleToBF16(brain), bits);
    // A bfloat16 is the upper half of a float.
    uint32_t word = bits << 16;
    float single;
    std::memcpy(&single, &word, sizeof(single));
    if (!std::isnan(brain))
      EXPECT_EQ(brain, single);
  }
  EXPECT_EQ(f16ToDouble(0x3c00), 1.0);
  EXPECT_EQ(f16ToDouble(0x0001), 0x1p-24);
  EXPECT_EQ(f16ToDouble(0xfbff), -65504.0);
  EXPECT_EQ(f16ToDouble(0x7c00), infinity);
  EXPECT_TRUE(std::signbit(f16ToDouble(0x8000)));
}

TEST(ArrayTest, RoundingTakesTiesToEven) {
  EXPECT_EQ(doubleToF16(1 + 0x1p-11), 0x3c00);
  EXPECT_EQ(doubleToF16(1 + 0x3p-11), 0x3c02);
  // A float would lose the last bit and make a tie of this.
  EXPECT_EQ(doubleToF16(1 + 0x1p-11 + 0x1p-52), 0x3c01);
  EXPECT_EQ(doubleToBF16(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(doubleToBF16(1 + 0x1p-8 + 0x1p-52), 0x3f81);
  EXPECT_EQ(doubleToF16(65519.999), 0x7bff);
  EXPECT_EQ(doubleToF16(65520), 0x7c00);
  EXPECT_EQ(doubleToF16(-1e300), 0xfc00);
  EXPECT_EQ(doubleToF16(0x1p-25), 0x0000);
  EXPECT_EQ(doubleToF16(0x1p-25 + 0x1p-70), 0x0001);
  EXPECT_EQ(doubleToF16(-0x1p-26), 0x8000);
  EXPECT_EQ(doubleToBF16(5e-324), 0x0000);
  EXPECT_EQ(doubleToF16(std::nan("")), 0x7e00);
}

TEST(ArrayTest, RoundingAgreesWithAPFloat) {
  Random random(1);
  for (int i = 0; i < 200000; ++i) {
    // Exponents around both types' ranges, and often a value near a tie.
    uint64_t bits = random.next();
    int range = i & 1 ? 20 : 140;
    uint64_t exponent = 1023 - range + bits % (2 * range);
    uint64_t fraction = random.next() >> 12;
    unsigned kept = i & 1 ? 11 : 8;
    if (i & 2)
      fraction = (fraction >> (52 - kept) << (52 - kept)) + (i >> 2) % 3 - 1;
    uint64_t word = bits >> 63 << 63 | exponent << 52 | (fraction << 12 >> 12);
    double value;
    std::memcpy(&value, &word, sizeof(value));
    ASSERT_EQ(doubleToF16(value), roundWithAPFloat(value, APFloat::IEEEhalf()))
        << value;
    ASSERT_EQ(doubleToBF16(value), roundWithAPFloat(value, APFloat::BFloat()))
        << value;
  }
}

TEST(ArrayTest, ElementsOfEachType) {
  for (DType dtype : allDTypes) {
    Array array = get(Array::create(dtype, {3}));
    array.setDouble(1, 1);
    EXPECT_EQ(array.getDouble(0), 0);
    EXPECT_EQ(array.getDouble(1), 1);
    EXPECT_EQ(array.getInt(1), 1);
    EXPECT_EQ(array.getDouble(2), 0);
    array.setInt(2, 1);
    EXPECT_EQ(array.getDouble(2), 1);
    if (dtype == DType::I1)
      continue;
    array.setDouble(0, -2.0);
    EXPECT_EQ(array.getDouble(0), -2);
    EXPECT_EQ(array.getInt(0), -2);
  }
}

TEST(ArrayTest, IntegersSaturateFromDoubles) {
  Array bytes = get(Array::create(DType::I8, {1}));
  for (auto [value, expected] : {std::pair(127.9, 127),
                                 {128.0, 127},
                                 {1e300, 127},
                                 {infinity, 127},
                                 {-128.9, -128},
                                 {-129.0, -128},
                                 {-infinity, -128},
                                 {2.9, 2},
                                 {-2.9, -2},
                                 {std::nan(""), 0}}) {
    bytes.setDouble(0, value);
    EXPECT_EQ(bytes.getInt(0), expected) << value;
  }
  bytes.setInt(0, 255);
  EXPECT_EQ(bytes.getInt(0), -1);

  Array longs = get(Array::create(DType::I64, {1}));
  longs.setDouble(0, 0x1p63);
  EXPECT_EQ(longs.getInt(0), INT64_MAX);
  longs.setDouble(0, -0x1p63);
  EXPECT_EQ(longs.getInt(0), INT64_MIN);

  Array flags = get(Array::create(DType::I1, {1}));
  flags.setDouble(0, 0.25);
  EXPECT_EQ(flags.bytes()[0], 1);
  flags.setInt(0, 2);
  EXPECT_EQ(flags.bytes()[0], 0);
}
