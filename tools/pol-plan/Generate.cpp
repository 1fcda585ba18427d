//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generate.h"
#include "Message.h"
#include "Random.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

using namespace pol_plan;
using namespace mlir::pol::placement;
using pol_run::makeError;
using pol_run::quoted;
using pol_run::Random;

static int64_t pick(Random &random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.next() %
                                    static_cast<uint64_t>(high - low + 1));
}

/// e^x, from operations that are exact to the last bit everywhere.
static double exponential(double x) {
  int power = static_cast<int>(std::floor(x / 0.6931471805599453 + 0.5));
  double rest = std::fma(-power, 0.6931471805599453, x), sum = 1;
  for (int n = 16; n >= 1; --n)
    sum = std::fma(sum, rest / n, 1);
  return std::ldexp(sum, power);
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

namespace {
class Frames {
public:
  explicit Frames(uint64_t seed) : random(seed) {}

  /// Adds a frame with that many buffers, those of inner frames included.
  void addFrame(int64_t count);

  Buffers buffers;

private:
  int64_t makeSize() {
    double size = std::min(4096 * exponential(1.5 * random.normal()), 0x1p40);
    return (static_cast<int64_t>(size) + 64) / 64 * 64;
  }

  Random random;
  int64_t now = 0;
};
} // namespace

void Frames::addFrame(int64_t count) {
  int64_t numOwn = count > 8 ? count / 10 + 1 : count;
  // What happens in the frame: 0 is a buffer of its own, others are frames.
  std::vector<int64_t> steps(numOwn, 0);
  int64_t numInner = count > 8 ? pick(random, 2, 5) : 0, rest = count - numOwn;
  for (; numInner > 0 && rest > 0; --numInner) {
    int64_t inner = numInner == 1 ? rest : pick(random, 1, 2 * rest / numInner);
    inner = std::min(inner, rest);
    steps.push_back(inner);
    rest -= inner;
  }
  for (size_t i = steps.size(); i > 1; --i)
    std::swap(steps[i - 1], steps[pick(random, 0, i - 1)]);
  std::vector<size_t> own;
  for (int64_t step : steps) {
    if (step > 0) {
      addFrame(step);
      continue;
    }
    own.push_back(buffers.size());
    buffers.push_back({now++, 0, makeSize()});
  }
  int64_t end = ++now;
  for (size_t index : own) {
    Buffer &buffer = buffers[index];
    buffer.end = random.next() % 2 ? end : pick(random, buffer.begin + 1, end);
  }
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

static Buffers makeCuts(int64_t count, uint64_t seed) {
  static constexpr int64_t unit = 1024;
  struct Rectangle {
    int64_t begin, end, low, high;
    std::tuple<int64_t, int64_t, int64_t> key() const {
      return {(end - begin) * (high - low), begin, low};
    }
    bool operator<(const Rectangle &other) const { return key() < other.key(); }
  };
  Random random(seed);
  std::priority_queue<Rectangle> rectangles;
  rectangles.push({0, unit, 0, unit});
  while (static_cast<int64_t>(rectangles.size()) < count) {
    Rectangle first = rectangles.top(), second = first;
    bool inTime = first.end - first.begin > first.high - first.low;
    int64_t low = inTime ? first.begin : first.low;
    int64_t length = (inTime ? first.end : first.high) - low;
    if (length < 2)
      break;
    int64_t at =
        low + std::clamp<int64_t>(pick(random, length / 4, 3 * length / 4), 1,
                                  length - 1);
    (inTime ? first.end : first.high) = at;
    (inTime ? second.begin : second.low) = at;
    rectangles.pop();
    rectangles.push(first);
    rectangles.push(second);
  }
  Buffers buffers;
  for (; !rectangles.empty(); rectangles.pop()) {
    const Rectangle &r = rectangles.top();
    buffers.push_back({unit * r.begin, unit * r.end, unit * (r.high - r.low)});
  }
  for (size_t i = buffers.size(); i > 1; --i)
    std::swap(buffers[i - 1], buffers[pick(random, 0, i - 1)]);
  return buffers;
}

llvm::Expected<Table> pol_plan::generate(llvm::StringRef spec) {
  llvm::SmallVector<llvm::StringRef> parts;
  spec.split(parts, ':');
  int64_t count;
  uint64_t seed = 1;
  bool isKnown = parts[0] == "frames" || parts[0] == "cuts";
  if (!isKnown || parts.size() < 2 || parts.size() > 3 ||
      parts[1].getAsInteger(10, count) || count < 1 || count > 10000000 ||
      (parts.size() == 3 && parts[2].getAsInteger(10, seed)))
    return makeError("expected --generate to be frames:COUNT[:SEED] or "
                     "cuts:COUNT[:SEED], with a count of 1 to 10000000, but "
                     "got " +
                     quoted(spec));
  if (parts[0] == "cuts") {
    // Rectangles of one unit cannot be cut.
    if (count > 100000)
      return makeError("expected at most 100000 cuts, but got " +
                       llvm::Twine(count));
    return Table::fromBuffers(makeCuts(count, seed));
  }
  Frames frames(seed);
  frames.addFrame(count);
  return Table::fromBuffers(std::move(frames.buffers));
}
