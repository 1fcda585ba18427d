//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SampleReports.h"

#include <algorithm>
#include <random>
#include <tuple>

using namespace mlir::pol;

/// The lowest multiple of 64 at which the buffer overlaps none of those before.
static int64_t findOffset(const std::vector<ReportedBuffer> &placed,
                          const ReportedBuffer &buffer) {
  std::vector<std::pair<int64_t, int64_t>> used;
  for (const ReportedBuffer &other : placed)
    if (other.begin < buffer.end && buffer.begin < other.end)
      used.push_back({other.offset, other.offset + other.bytes});
  std::sort(used.begin(), used.end());
  int64_t offset = 0;
  for (auto [begin, end] : used) {
    if (offset + buffer.bytes <= begin)
      break;
    offset = std::max(offset, (end + 63) / 64 * 64);
  }
  return offset;
}

static ReportedBuffer makeBuffer(std::mt19937 &random, unsigned index,
                                 int64_t steps) {
  // Not <random>'s distributions, which are not the same everywhere.
  auto below = [&](int64_t limit) { return int64_t(random() % limit); };
  static const char *const names[] = {"q",    "k_projection",     "scores",
                                      "rstd", "dweight_partials", "y"};
  static const char *const kernels[] = {"pol.attention", "pol.rms_norm",
                                        "pol.matmul_grad"};
  ReportedBuffer buffer;
  buffer.name = names[below(6)] + std::to_string(index);
  buffer.kernel = kernels[below(3)];
  buffer.location = "model.mlir:" + std::to_string(index + 7) + ":10";
  buffer.function = "layer";
  unsigned kind = below(20);
  buffer.role = kind < 5    ? "checkpoint"
                : kind < 8  ? "output"
                : kind < 18 ? "scratch"
                : kind < 19 ? "hidden"
                            : "";
  buffer.begin = below(steps);
  buffer.end = buffer.begin + 1 + below(std::max<int64_t>(steps / 20, 3));
  if (buffer.role == "checkpoint") {
    buffer.begin /= 2;
    buffer.end = steps - buffer.begin;
  }
  buffer.bytes = (int64_t(1) << (6 + below(14))) * (1 + below(3)) / 2;
  return buffer;
}

MemoryReport makeSampleReport(unsigned buffers) {
  std::mt19937 random(7);
  int64_t steps = std::max(8u, buffers);
  ReportedSpace space;
  space.name = "arena";
  space.mode = "planned";
  space.clock = "op";
  space.steps = steps;
  for (unsigned i = 0; i < buffers; ++i)
    space.buffers.push_back(makeBuffer(random, i, steps));
  // Large and long ones first; locations tell equals apart.
  auto getKey = [](const ReportedBuffer &buffer) {
    return std::tuple(-double(buffer.bytes) * (buffer.end - buffer.begin),
                      buffer.location);
  };
  std::sort(space.buffers.begin(), space.buffers.end(),
            [&](const ReportedBuffer &a, const ReportedBuffer &b) {
              return getKey(a) < getKey(b);
            });
  std::vector<ReportedBuffer> placed;
  for (ReportedBuffer &buffer : space.buffers) {
    buffer.offset = findOffset(placed, buffer);
    space.peak = std::max(space.peak, buffer.offset + buffer.bytes);
    placed.push_back(buffer);
  }
  space.buffers = std::move(placed);
  space.lowerBound = getLiveSetBound(space);
  space.bump = space.peak + space.peak / 3;
  space.capacity = 2 * space.peak;
  return {"training_step", {std::move(space)}};
}

MemoryReport makeHostileReport() {
  const std::string names[] = {
      "<script>alert('&')</script>",
      "\"quoted\" & 'single' ]]> -->",
      std::string("nul\0bell\a\x1b[31m\r\n\ttab\x7f", 20),
      "\xff\xfe\x80 not UTF-8 \xc3",
      "\xc2\x85 \xef\xbf\xbe \xef\xbf\xbf",
      "\xe5\x90\x8d\xe5\x89\x8d \xce\xb1\xce\xb2\xce\xb3",
      std::string(100000, 'm'),
      ""};
  MemoryReport report;
  report.entry = "f<&\"\x01" + std::string(500, 'W');
  for (const char *clock : {"op", "event", "<&>", ""}) {
    ReportedSpace space;
    space.name = names[report.spaces.size()];
    space.mode = "<mode & \x02>";
    space.clock = clock;
    int64_t step = 0;
    for (const std::string &name : names)
      for (int64_t bytes : {int64_t(0), int64_t(1), int64_t(1) << 62}) {
        ReportedBuffer buffer;
        buffer.name = buffer.kernel = buffer.role = buffer.location =
            buffer.function = name;
        buffer.bytes = bytes;
        // The heap's are not known.
        buffer.offset = space.clock == "event" ? -1 : bytes / 2;
        buffer.begin = step++;
        buffer.end = step % 3 == 0 ? -1 : step % 3 == 1 ? buffer.begin : 1000;
        space.buffers.push_back(buffer);
      }
    space.buffers.back().end = INT64_MAX;
    space.peak = space.lowerBound = INT64_MAX;
    space.bump = 0;
    report.spaces.push_back(std::move(space));
  }
  report.spaces.push_back({});
  return report;
}
