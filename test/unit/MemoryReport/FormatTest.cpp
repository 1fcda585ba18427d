//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Analysis/MemoryReport/Bytes.h"
#include "SampleReports.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace mlir::pol;

template <typename Print>
static std::string print(Print function, const MemoryReport &report) {
  std::string text;
  llvm::raw_string_ostream os(text);
  function(os, report);
  return text;
}

static MemoryReport makeReport() {
  ReportedSpace arena;
  arena.name = "arena";
  arena.clock = "op";
  arena.mode = "planned";
  arena.capacity = 8192;
  arena.peak = 3072;
  arena.bump = 4096;
  arena.lowerBound = 2048;
  arena.steps = 9;
  arena.buffers.push_back({"y",
                           "pol.rms_norm",
                           "output",
                           "a.mlir:1:2",
                           "f",
                           2048,
                           0,
                           1,
                           -1,
                           1,
                           {},
                           5,
                           1024});
  arena.buffers.push_back({"", "", "", "", "", 64, -1, 2, 4, 3, {}});
  ReportedSpace stack;
  stack.name = stack.mode = "stack";
  stack.buffers.push_back({"m", "k", "scratch", "", "g", 32, -1, 0, -1, 1, {}});
  return {"f", {arena, stack}};
}

TEST(Text, Tables) {
  EXPECT_EQ(print(printText, makeReport()),
            "memory report of f\n"
            "  buffer  kernel        role     space  bytes  offset  times  "
            "lifetime\n"
            "  y       pol.rms_norm  output   arena   2048       0      1  "
            "1..end\n"
            "  -       -             -        arena     64       -      3  "
            "2..4\n"
            "  m       k             scratch  stack     32       -      1  "
            "@g\n"
            "\n"
            "  space  mode     capacity  bump  peak  live set  peak/live set  "
            "peak/bump\n"
            "  arena  planned      8192  4096  3072      2048          1.500  "
            "    0.750\n"
            "\n"
            "  stack: 32 bytes in all\n");
}

/// A column of which no space knows anything is left out.
TEST(Text, UnknownColumns) {
  MemoryReport report = makeReport();
  report.spaces.pop_back();
  report.spaces[0].bump = -1;
  std::string text = print(printText, report);
  EXPECT_NE(text.find("capacity  peak  live set  peak/live set\n"),
            std::string::npos)
      << text;
}

TEST(Text, NoBuffers) {
  EXPECT_EQ(print(printText, {}), "memory report\n  (no buffers)\n");
}

/// One row is one line, whatever is in the names.
TEST(Text, HostileNames) {
  MemoryReport report = makeHostileReport();
  size_t rows = 0;
  for (const ReportedSpace &space : report.spaces)
    rows += space.buffers.size();
  std::string text = print(printText, report);
  // Two headings and a title, a blank line, three totals, and two sums.
  EXPECT_EQ(llvm::StringRef(text).count('\n'), rows + 7 + 2 * 2);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Json, SaysEverything) {
  auto parsed = llvm::json::parse(print(printJson, makeReport()));
  ASSERT_TRUE(bool(parsed));
  auto expected = llvm::json::parse(R"({
    "entry": "f",
    "buffers": [
      {"name": "y", "kernel": "pol.rms_norm", "role": "output",
       "space": "arena", "bytes": 2048, "offset": 0, "times": 1, "begin": 1,
       "kept_from": 5, "kept_bytes": 1024, "function": "f",
       "location": "a.mlir:1:2"},
      {"name": "", "kernel": "", "role": "", "space": "arena", "bytes": 64,
       "times": 3, "begin": 2, "end": 4},
      {"name": "m", "kernel": "k", "role": "scratch", "space": "stack",
       "bytes": 32, "times": 1, "function": "g"}],
    "spaces": [
      {"name": "arena", "mode": "planned", "clock": "op", "steps": 9,
       "capacity": 8192, "peak": 3072, "bump": 4096, "lower_bound": 2048},
      {"name": "stack", "mode": "stack"}]})");
  ASSERT_TRUE(bool(expected));
  EXPECT_EQ(*parsed, *expected);
}

TEST(Json, HostileNames) {
  auto parsed = llvm::json::parse(print(printJson, makeHostileReport()));
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
}

TEST(Formats, ByExtension) {
  for (const char *path : {"a.json", "b/c.svg", "d.e.txt"})
    EXPECT_TRUE(namesReportFormat(path)) << path;
  for (const char *path : {"", "json", "a.csv", "a.json.gz", "a.SVG"})
    EXPECT_FALSE(namesReportFormat(path)) << path;
  std::string text;
  llvm::raw_string_ostream os(text);
  printFor("a.json", os, {});
  EXPECT_EQ(text.substr(0, 1), "{");
  text.clear();
  printFor("a.svg", os, {});
  EXPECT_EQ(text.substr(0, 5), "<svg ");
  text.clear();
  printFor("a.txt", os, {});
  EXPECT_EQ(text.substr(0, 6), "memory");
}

TEST(Bytes, InWords) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1024), "1 KiB");
  EXPECT_EQ(formatBytes(1025), "1.00 KiB");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(35840), "35 KiB");
  EXPECT_EQ(formatBytes((10 << 20) - 1), "10.0 MiB");
  EXPECT_EQ(formatBytes((1 << 20) - 1), "1024.0 KiB");
  EXPECT_EQ(formatBytes(INT64_MAX), "8.00 EiB");
}

TEST(Bytes, Ticks) {
  auto join = [](const std::vector<Tick> &ticks) {
    std::string text;
    for (const Tick &tick : ticks)
      text += tick.text + ",";
    return text;
  };
  EXPECT_EQ(join(getByteTicks(1, 6)), "0,1 B,");
  EXPECT_EQ(join(getByteTicks(1000, 4)), "0,256 B,512 B,768 B,");
  EXPECT_EQ(join(getByteTicks(1500 << 10, 6)),
            "0,0.25 MiB,0.50 MiB,0.75 MiB,1.00 MiB,1.25 MiB,");
  EXPECT_EQ(getByteTicks(INT64_MAX, 6).size(), 4u);
  EXPECT_EQ(join(getStepTicks(0, 10, 10)), "0,1,2,3,4,5,6,7,8,9,10,");
  EXPECT_EQ(join(getStepTicks(3, 48, 5)), "10,20,30,40,");
  EXPECT_EQ(join(getStepTicks(0, 2000, 5)), "0,500,1000,1500,2000,");
  EXPECT_LE(getStepTicks(0, INT64_MAX, 5).size(), 6u);
}
