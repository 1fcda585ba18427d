//===- SummaryTest.cpp - An array on one line -----------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Summary.h"

#include "InputSpec.h"
#include "TestSupport.h"

#include <cmath>

using namespace llvm;
using namespace pol_run;

static std::string summarize(const Array &array, int64_t maxElements = 6) {
  std::string text;
  raw_string_ostream stream(text);
  printSummary(stream, array, maxElements);
  return text;
}

static std::string summarize(StringRef spec, int64_t maxElements = 6) {
  return summarize(get(loadInput(spec)), maxElements);
}

TEST(SummaryTest, Lines) {
  EXPECT_EQ(summarize("2x2xf32=iota"),
            "2x2xf32  min 0  max 3  mean 1.5  rms 1.87083  [0, 1, 2, 3]");
  EXPECT_EQ(summarize("8xi8=iota", 3),
            "8xi8  min 0  max 7  mean 3.5  rms 4.1833  [0, 1, 2, ...]");
  EXPECT_EQ(summarize("2xi1=ones", 0),
            "2xi1  min 1  max 1  mean 1  rms 1  [...]");
  EXPECT_EQ(summarize("f64=-2.5"),
            "f64  min -2.5  max -2.5  mean -2.5  rms 2.5  [-2.5]");
  EXPECT_EQ(summarize("0x3xf32=zeros"), "0x3xf32  []");
  EXPECT_EQ(summarize("3xbf16=zeros"),
            "3xbf16  min 0  max 0  mean 0  rms 0  [0, 0, 0]");
}

TEST(SummaryTest, NotFinite) {
  Array array = get(loadInput("5xf16=iota"));
  array.setDouble(0, std::nan(""));
  array.setDouble(1, -INFINITY);
  array.setDouble(3, std::nan(""));
  EXPECT_EQ(summarize(array), "5xf16  min 2  max 4  mean 3  rms 3.16228  nan 2 "
                              " inf 1  [nan, -inf, 2, nan, 4]");
  EXPECT_EQ(summarize("2xf32=const:nan"), "2xf32  nan 2  [nan, nan]");
  EXPECT_EQ(summarize("1xf32=const:-inf"), "1xf32  inf 1  [-inf]");
}

TEST(SummaryTest, Extremes) {
  // Neither sum may overflow, nor may an i64 lose its last digits.
  EXPECT_EQ(summarize("4xf64=const:1.5e308", 1),
            "4xf64  min 1.5e+308  max 1.5e+308  mean 1.5e+308  rms 1.5e+308  "
            "[1.5e+308, ...]");
  EXPECT_EQ(summarize("1xf64=const:5e-324", 0),
            "1xf64  min 4.94066e-324  max 4.94066e-324  mean 4.94066e-324  rms "
            "4.94066e-324  [...]");
  Array array = get(loadInput("2xi64=const:9223372036854775806"));
  array.setInt(1, INT64_MAX);
  EXPECT_TRUE(StringRef(summarize(array))
                  .starts_with("2xi64  min 9223372036854775806  max "
                               "9223372036854775807  mean "));
}
