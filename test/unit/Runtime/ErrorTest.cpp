//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Runtime/Error.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace {

pol_check_site siteOf(pol_relation relation) {
  return {"extent 1 of weight", "pol.rms_norm", "x.mlir", 3, 8, relation};
}

std::string mismatch(const pol_check_site *site, int64_t got, int64_t wanted) {
  pol_report_mismatch(site, got, wanted);
  char text[512];
  return pol_format_error(pol_last_error(), text, sizeof(text));
}

TEST(ErrorTest, MismatchNamesWhatAndWhere) {
  pol_check_site site = siteOf(POL_EQUAL);
  EXPECT_EQ(mismatch(&site, 63, 64),
            "shape mismatch: expected extent 1 of weight of kernel "
            "'pol.rms_norm' to be 64, but got 63, at x.mlir:3:8");
  const pol_error *error = pol_last_error();
  EXPECT_EQ(error->code, POL_SHAPE_MISMATCH);
  EXPECT_EQ(error->wanted, 64);
  EXPECT_EQ(error->available, 63);
}

TEST(ErrorTest, MismatchTellsTheRelation) {
  pol_check_site site = siteOf(POL_AT_MOST);
  site.file = "";
  site.kernel = "";
  EXPECT_EQ(mismatch(&site, 3, 2),
            "shape mismatch: expected extent 1 of weight to be at most 2, but "
            "got 3");
  site.relation = POL_AT_LEAST;
  EXPECT_EQ(mismatch(&site, -1, 0),
            "shape mismatch: expected extent 1 of weight to be at least 0, but "
            "got -1");
  site.relation = POL_MULTIPLE_OF;
  EXPECT_EQ(mismatch(&site, 6, 4),
            "shape mismatch: expected extent 1 of weight to be a multiple of "
            "4, but got 6");
}

TEST(ErrorTest, MismatchWithoutNames) {
  EXPECT_EQ(mismatch(nullptr, 3, 2),
            "shape mismatch: expected an extent to be 2, but got 3");
  pol_check_site site = {nullptr, nullptr, nullptr, 0, 0, 77};
  EXPECT_EQ(mismatch(&site, 3, 2),
            "shape mismatch: expected an extent to be 2, but got 3");
}

TEST(ErrorTest, MismatchOfLongNames) {
  std::string name(400, 'n');
  pol_check_site site = siteOf(POL_MULTIPLE_OF);
  site.what = name.c_str();
  std::string text = mismatch(&site, 6, 4);
  EXPECT_NE(text.find("nn to be a multiple of 4, but got 6, at x.mlir:3:8"),
            std::string::npos)
      << text;
  EXPECT_LT(std::strlen(pol_last_error()->what), sizeof(pol_error::what));
}

} // namespace
