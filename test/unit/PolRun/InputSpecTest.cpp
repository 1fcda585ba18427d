//===- InputSpecTest.cpp - Inputs from the command line -------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputSpec.h"

#include "Random.h"
#include "TestSupport.h"

#include <cmath>

using namespace llvm;
using namespace pol_run;

static SmallVector<double> elementsOf(StringRef spec) {
  Array array = get(loadInput(spec));
  SmallVector<double> elements;
  for (int64_t i = 0, e = array.getNumElements(); i < e; ++i)
    elements.push_back(array.getDouble(i));
  return elements;
}

TEST(InputSpecTest, Types) {
  for (StringRef type : {"16x64xf32", "1x2x3x4xbf16", "0x5xf16", "f64", "7xi1",
                         "i8", "3xi16", "2x2xi32", "i64"}) {
    Array array = get(loadInput((type + "=zeros").str()));
    EXPECT_EQ(array.getTypeString(), type);
    for (int64_t i = 0, e = array.getNumElements(); i < e; ++i)
      EXPECT_EQ(array.getDouble(i), 0);
  }
  EXPECT_EQ(get(loadInput("index=7")).getTypeString(), "i64");
  EXPECT_EQ(get(loadInput("2x3xindex=iota")).getTypeString(), "2x3xi64");
}

TEST(InputSpecTest, Fills) {
  using V = SmallVector<double>;
  EXPECT_EQ(elementsOf("2x2xf32=ones"), (V{1, 1, 1, 1}));
  EXPECT_EQ(elementsOf("2xi1=ones"), (V{1, 1}));
  EXPECT_EQ(elementsOf("4xbf16=iota"), (V{0, 1, 2, 3}));
  EXPECT_EQ(elementsOf("3xi1=iota"), (V{0, 1, 0}));
  EXPECT_EQ(elementsOf("130xi8=iota")[129], -127);
  EXPECT_EQ(elementsOf("258xbf16=iota")[257], 256);
  EXPECT_EQ(elementsOf("2xf32=const:3.5"), (V{3.5, 3.5}));
  EXPECT_EQ(elementsOf("2xi32=const:-9"), (V{-9, -9}));
}

TEST(InputSpecTest, Scalars) {
  EXPECT_EQ(elementsOf("f32=3.5")[0], 3.5);
  EXPECT_EQ(elementsOf("f32=0.1")[0], 0.1f);
  EXPECT_EQ(elementsOf("f64=-1.25e-3")[0], -1.25e-3);
  EXPECT_EQ(elementsOf("f64=.5")[0], 0.5);
  EXPECT_EQ(elementsOf("f64=+5.")[0], 5);
  EXPECT_EQ(elementsOf("f32=-inf")[0], -INFINITY);
  EXPECT_TRUE(std::isnan(elementsOf("bf16=nan")[0]));
  EXPECT_TRUE(std::signbit(elementsOf("f32=-0")[0]));
  EXPECT_EQ(elementsOf("f32=1e-400")[0], 0);
  EXPECT_EQ(elementsOf("f32=const:2")[0], 2);
  EXPECT_EQ(elementsOf("f32=zeros")[0], 0);
  EXPECT_EQ(elementsOf("f16=65519")[0], 65504);
  // By way of a double this would be a tie, and 1.
  EXPECT_EQ(elementsOf("f16=1.00048828125000000000000000001")[0], 1.0009765625);
  EXPECT_EQ(elementsOf("i8=-128")[0], -128);
  EXPECT_EQ(elementsOf("i8=255")[0], -1);
  EXPECT_EQ(elementsOf("i1=true")[0], 1);
  EXPECT_EQ(elementsOf("i1=false")[0], 0);
  EXPECT_EQ(get(loadInput("i64=-9223372036854775808")).getInt(0), INT64_MIN);
  EXPECT_EQ(get(loadInput("i64=9223372036854775807")).getInt(0), INT64_MAX);
  EXPECT_EQ(get(loadInput("i64=18446744073709551615")).getInt(0), -1);
}

TEST(InputSpecTest, RandomBits) {
  // What the algorithms' published definitions give for these seeds.
  Random zero(0);
  EXPECT_EQ(zero.next(), 0x99ec5f36cb75f2b4u);
  EXPECT_EQ(zero.next(), 0xbf6e1f784956452au);
  EXPECT_EQ(zero.next(), 0x1a5f849d4933e6e0u);
  Random other(1);
  EXPECT_NE(other.next(), 0x99ec5f36cb75f2b4u);
}

TEST(InputSpecTest, UniformFloats) {
  EXPECT_EQ(elementsOf("100xf32=random:7"), elementsOf("100xf32=uniform:7"));
  EXPECT_NE(elementsOf("100xf32=random:7"), elementsOf("100xf32=random:8"));
  SmallVector<double> wide = elementsOf("100000xf64=random:7");
  for (auto [spec, step] : {std::pair("100000xf32=random:7", 0x1p-23),
                            {"100000xf16=random:7", 0x1p-10},
                            {"100000xbf16=random:7", 0x1p-7}}) {
    SmallVector<double> narrow = elementsOf(spec);
    for (size_t i = 0; i < wide.size(); ++i)
      ASSERT_EQ(narrow[i], std::floor(wide[i] / step) * step);
  }
  double sum = 0, squares = 0;
  for (double value : wide) {
    ASSERT_TRUE(value >= -1 && value < 1);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / wide.size(), 0, 0.01);
  EXPECT_NEAR(squares / wide.size(), 1.0 / 3, 0.01);
}

TEST(InputSpecTest, UniformIntegers) {
  for (StringRef type : {"i8", "i16", "i32", "i64"}) {
    int counts[10] = {};
    for (double value : elementsOf(("100000x" + type + "=random:3").str())) {
      ASSERT_TRUE(value >= 0 && value <= 9);
      ++counts[static_cast<int>(value)];
    }
    for (int count : counts)
      EXPECT_NEAR(count, 10000, 500);
  }
  double ones = 0;
  for (double value : elementsOf("100000xi1=random:3"))
    ones += value;
  EXPECT_NEAR(ones, 50000, 1000);
}

TEST(InputSpecTest, NormalFloats) {
  // The same draws through the standard library, which may differ in the last
  // bits.
  Random ours(5), bits(5);
  for (int i = 0; i < 100000; ++i) {
    double u = static_cast<double>((bits.next() >> 11) + 1) * 0x1p-53;
    double v = static_cast<double>(bits.next() >> 9) * 0x1p-55;
    double radius = std::sqrt(-2 * std::log(u));
    double angle = 2 * 3.14159265358979323846 * v;
    ASSERT_NEAR(ours.normal(), radius * std::cos(angle), 1e-13);
    ASSERT_NEAR(ours.normal(), radius * std::sin(angle), 1e-13);
  }
  double sum = 0, squares = 0, fourths = 0;
  SmallVector<double> values = elementsOf("200000xf32=normal:9");
  for (double value : values) {
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
    fourths += value * value * value * value;
  }
  EXPECT_NEAR(sum / values.size(), 0, 0.01);
  EXPECT_NEAR(squares / values.size(), 1, 0.02);
  EXPECT_NEAR(fourths / values.size(), 3, 0.1);
}

TEST(InputSpecTest, NormalFloatsNeverChange) {
  // To the last bit, whatever the machine: tests elsewhere rest on it.
  SmallVector<double> values = elementsOf("4xf64=normal:7");
  EXPECT_EQ(values,
            (SmallVector<double>{-0x1.366bc58650268p-3, 0x1.a8e84567bf47ap-1,
                                 0x1.2c9850f54fcaep-1, -0x1.1ef4948321696p-4}));
  EXPECT_EQ(elementsOf("3xf64=random:7"),
            (SmallVector<double>{0x1.9ac7d7ba77cb8p-2, -0x1.c51e134d85becp-2,
                                 0x1.5bc74d2654b1ep-1}));
}

TEST(InputSpecTest, Files) {
  EXPECT_EQ(messageOf(loadInput("/no/such/file.npy")),
            "cannot read '/no/such/file.npy': No such file or directory");
  // What exists is a file, whatever its name.
  EXPECT_EQ(messageOf(loadInput("/")), "cannot read '/': Is a directory");
}

static const std::pair<StringRef, StringRef> hostileSpecs[] = {
    {"", "expected a file, or a type and a fill like '16x64xf32=random:7', but "
         "got ''"},
    {"16x64xf32", "expected a file, or a type and a fill like "
                  "'16x64xf32=random:7', but got '16x64xf32'"},
    {"x\ny", "expected a file, or a type and a fill like '16x64xf32=random:7', "
             "but got 'x\\x0ay'"},
    {"=zeros", "expected an element type of f16, bf16, f32, f64, i1, i8, i16, "
               "i32, i64 or index, but got ''"},
    {"4x=zeros", "expected an element type of f16, bf16, f32, f64, i1, i8, "
                 "i16, i32, i64 or index, but got ''"},
    {"4xf33=zeros", "expected an element type of f16, bf16, f32, f64, i1, i8, "
                    "i16, i32, i64 or index, but got 'f33'"},
    {"xf32=zeros", "expected an element type of f16, bf16, f32, f64, i1, i8, "
                   "i16, i32, i64 or index, but got 'xf32'"},
    {"4xxf32=zeros", "expected an element type of f16, bf16, f32, f64, i1, i8, "
                     "i16, i32, i64 or index, but got 'xf32'"},
    {"4xf32x=zeros", "expected an element type of f16, bf16, f32, f64, i1, i8, "
                     "i16, i32, i64 or index, but got 'f32x'"},
    {"16x64=zeros",
     "expected an element type after the dimensions, but got '16x64'"},
    {"16=zeros", "expected an element type after the dimensions, but got '16'"},
    {"-4xf32=zeros", "expected a dimension of decimal digits, but got '-4'"},
    {"?x4xf32=zeros", "expected a dimension of decimal digits, but got '?'"},
    {"4 x4xf32=zeros", "expected a dimension of decimal digits, but got '4 '"},
    {"4*4xf32=zeros", "expected a dimension of decimal digits, but got '4*4'"},
    {"9223372036854775808xi8=zeros",
     "expected a dimension below 2^63, but got '9223372036854775808'"},
    {"4611686018427387904x2xi8=zeros",
     "expected an array of less than 2^63 bytes, but got "
     "'4611686018427387904x2xi8'"},
    {"0x4611686018427387904x4xi8=zeros",
     "expected an array of less than 2^63 bytes, but got "
     "'0x4611686018427387904x4xi8'"},
    {"2xf32=", "expected zeros, ones, iota, const:NUMBER, random:SEED, "
               "uniform:SEED or normal:SEED, but got ''"},
    {"2xf32=3.5", "expected zeros, ones, iota, const:NUMBER, random:SEED, "
                  "uniform:SEED or normal:SEED, but got '3.5'"},
    {"2xf32=zeros ", "expected zeros, ones, iota, const:NUMBER, random:SEED, "
                     "uniform:SEED or normal:SEED, but got 'zeros '"},
    {"2xf32=gauss:3", "expected zeros, ones, iota, const:NUMBER, random:SEED, "
                      "uniform:SEED or normal:SEED, but got 'gauss:3'"},
    {"2xf32=random", "expected 'random:' and a seed, but got 'random'"},
    {"2xf32=const", "expected 'const:' and a number, but got 'const'"},
    {"2xf32=random:", "expected a seed below 2^64 after 'random:', but got ''"},
    {"2xf32=random:-1",
     "expected a seed below 2^64 after 'random:', but got '-1'"},
    {"2xf32=normal:1.5",
     "expected a seed below 2^64 after 'normal:', but got '1.5'"},
    {"2xf32=uniform:18446744073709551616",
     "expected a seed below 2^64 after 'uniform:', but got "
     "'18446744073709551616'"},
    {"2xi8=normal:1", "expected a float type for 'normal', but got 'i8'"},
    {"f32=", "expected a number, but got ''"},
    {"f32=abc", "expected a number, but got 'abc'"},
    {"f32=3.5.1", "expected a number, but got '3.5.1'"},
    {"f32=0x10", "expected a number, but got '0x10'"},
    {"f32=1e", "expected a number, but got '1e'"},
    {"f32=.", "expected a number, but got '.'"},
    {"f32=-", "expected a number, but got '-'"},
    {"f32=+-inf", "expected a number, but got '+-inf'"},
    {"f32=--1", "expected a number, but got '--1'"},
    {"f32=1e39", "expected a number that fits f32, but got '1e39'"},
    {"f64=1e99999999999999999999",
     "expected a number that fits f64, but got '1e99999999999999999999'"},
    {"f16=65520", "expected a number that fits f16, but got '65520'"},
    {"i64=9223372036854775808000",
     "expected an integer that fits i64, but got '9223372036854775808000'"},
    {"i64=-9223372036854775809",
     "expected an integer that fits i64, but got '-9223372036854775809'"},
    {"i8=256", "expected an integer that fits i8, but got '256'"},
    {"i8=-129", "expected an integer that fits i8, but got '-129'"},
    {"i1=2", "expected an integer that fits i1, but got '2'"},
    {"i1=-1", "expected an integer that fits i1, but got '-1'"},
    {"i32=3.5", "expected an integer, but got '3.5'"},
    {"i32=true", "expected an integer, but got 'true'"},
    {"i32=", "expected an integer, but got ''"},
    {"65521xf16=iota",
     "expected an iota that fits f16, but got 65521 elements"},
};

TEST(InputSpecTest, HostileSpecs) {
  for (auto [spec, message] : hostileSpecs)
    EXPECT_EQ(messageOf(loadInput(spec)), message.str()) << spec.str();
  EXPECT_TRUE(StringRef(messageOf(loadInput("4611686018427387904xi8=zeros")))
                  .starts_with("expected an array that fits in the "));
  std::string many;
  for (int i = 0; i < 100000; ++i)
    many += "1x";
  EXPECT_TRUE(isOneLine(messageOf(loadInput(many + "f32=zeros"))));
  EXPECT_TRUE(isOneLine(messageOf(loadInput(std::string(100000, '9')))));
  EXPECT_TRUE(
      isOneLine(messageOf(loadInput("f32=" + std::string(100000, '9')))));
}

TEST(InputSpecTest, GarbageNeverCrashes) {
  // Mostly pieces of good specs, in any order.
  static constexpr StringRef pieces[] = {
      "4",      "x",      "f32",
      "i8",     "index",  "=",
      "zeros",  "const:", "-",
      "random", ":",      "normal",
      "1e9",    "e",      ".",
      "inf",    "nan",    "iota",
      "bf16",   "?",      "f16",
      "0",      "\n",     "\xff",
      "true",   "i1",     "99999999999999999999",
      "+",      " ",      "ones"};
  Random random(11);
  for (int i = 0; i < 50000; ++i) {
    std::string spec;
    for (int n = random.next() % 9; n > 0; --n)
      spec += pieces[random.next() % std::size(pieces)];
    std::string message = messageOf(loadInput(spec));
    ASSERT_TRUE(isOneLine(message)) << spec << "\n" << message;
  }
}

TEST(InputSpecTest, CheckArray) {
  constexpr int64_t dynamic = Expectation::dynamic;
  using Shape = SmallVector<int64_t>;
  auto check = [](StringRef spec, Expectation expectation) {
    return messageOf(
        checkArray(get(loadInput(spec)), expectation, "input 1 ('%y')"));
  };
  EXPECT_EQ(check("4x8xf64=zeros", {DType::F32, Shape{4, dynamic}}),
            "input 1 ('%y'): expected 4x?xf32, but got 4x8xf64");
  EXPECT_EQ(check("4x8xf32=zeros", {DType::F32, Shape{4, dynamic}}), "success");
  EXPECT_EQ(check("4x0xf32=zeros", {DType::F32, Shape{4, dynamic}}), "success");
  EXPECT_EQ(check("5x8xf32=zeros", {DType::F32, Shape{4, dynamic}}),
            "input 1 ('%y'): expected 4x?xf32, but got 5x8xf32");
  EXPECT_EQ(check("4xf32=zeros", {DType::F32, Shape{4, dynamic}}),
            "input 1 ('%y'): expected 4x?xf32, but got 4xf32");
  EXPECT_EQ(check("f32=1", {DType::F32, Shape{1}}),
            "input 1 ('%y'): expected 1xf32, but got f32");
  EXPECT_EQ(check("1xf32=ones", {DType::F32, Shape{}}),
            "input 1 ('%y'): expected f32, but got 1xf32");
  EXPECT_EQ(check("index=1", {DType::I64, Shape{}}), "success");
  EXPECT_EQ(check("4x8xf64=zeros", {}), "success");
  EXPECT_EQ(check("4xf64=zeros", {DType::F32, std::nullopt}),
            "input 1 ('%y'): expected elements of f32, but got 4xf64");
  EXPECT_EQ(check("4xf64=zeros", {std::nullopt, Shape{dynamic, 2}}),
            "input 1 ('%y'): expected the shape ?x2, but got 4xf64");
  EXPECT_EQ(check("4xf64=zeros", {std::nullopt, Shape{}}),
            "input 1 ('%y'): expected a scalar, but got 4xf64");
}
