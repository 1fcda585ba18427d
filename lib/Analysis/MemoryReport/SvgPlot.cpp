//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SvgPlot.h"

#include "Bytes.h"
#include "Extents.h"
#include "SvgBuffers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::pol;

/// The strip of bytes in use, below the plot.
static constexpr double stripGap = 16, stripHeight = 36;

static constexpr const char *capacityClass = "capacity";

namespace {
/// A line across the plot at some number of bytes.
struct Level {
  int64_t bytes;
  std::string name;
  llvm::StringRef className;
  std::string note; // how it compares
};

class Plot {
public:
  Plot(SvgWriter &svg, const ReportedSpace &space, StepRange range, Box area);
  void paint();
  bool isStacked() const { return stacked; }

private:
  double getX(int64_t step) const {
    return area.x + area.width * (double(step) - double(range.first)) /
                        (double(range.last) - double(range.first));
  }
  double getY(double bytes) const {
    return area.bottom() - area.height * bytes / top;
  }
  void findLevels();
  void findTop();
  void paintGrid();
  void paintBuffers();
  void paintLevels();
  void paintLevel(const Level &level, double textY);
  void paintPeakMark();
  void paintInUse(const Box &strip);
  void paintSteps(const Box &strip);

  SvgWriter &svg;
  const ReportedSpace &space;
  StepRange range;
  Box area;
  /// One list for each buffer, with an offset for each extent.
  std::vector<std::vector<Extent>> extents;
  bool stacked = false;
  std::vector<Level> levels; // from the lowest
  int64_t highest = 0;       // of all extents
  double top = 1;            // bytes at the upper edge
};
} // namespace

//===----------------------------------------------------------------------===//
// Where things are
//===----------------------------------------------------------------------===//

/// Gives each extent the lowest offset that is free, in the order of time.
static void stackExtents(std::vector<std::vector<Extent>> &extents) {
  std::vector<std::tuple<int64_t, size_t, Extent *>> order;
  for (auto &list : extents)
    for (Extent &extent : list)
      order.push_back({extent.begin, order.size(), &extent});
  llvm::sort(order);
  std::vector<Extent *> live; // by offset
  for (auto [begin, number, extent] : order) {
    llvm::erase_if(
        live, [begin = begin](Extent *other) { return other->end <= begin; });
    int64_t offset = 0;
    size_t place = 0;
    // Among very many a gap is not worth the search.
    if (live.size() > 1000) {
      place = live.size();
      offset = addBytes(live.back()->offset, live.back()->bytes);
    }
    while (place < live.size() &&
           live[place]->offset - offset < extent->bytes) {
      offset = addBytes(live[place]->offset, live[place]->bytes);
      ++place;
    }
    extent->offset = offset;
    if (extent->bytes > 0 && extent->end > extent->begin)
      live.insert(live.begin() + place, extent);
  }
}

/// "1.020× live set", unless it is the same or either is not known.
static std::string compare(int64_t bytes, int64_t to, const char *what) {
  if (bytes <= 0 || to <= 0 || bytes == to)
    return "";
  return llvm::formatv("{0:f3}\u00d7 {1}", static_cast<double>(bytes) / to,
                       what);
}

Plot::Plot(SvgWriter &svg, const ReportedSpace &space, StepRange range,
           Box area)
    : svg(svg), space(space), range(range), area(area) {
  for (const ReportedBuffer &buffer : space.buffers) {
    extents.push_back(getExtents(buffer, range.last));
    for (const Extent &extent : extents.back())
      stacked |= extent.offset < 0;
  }
  if (stacked)
    stackExtents(extents);
  for (const auto &list : extents)
    for (const Extent &extent : list)
      highest = std::max(highest, addBytes(extent.offset, extent.bytes));
  // Heights of a stack mean nothing: holes stay in it.
  if (!stacked)
    findLevels();
  findTop();
}

void Plot::findLevels() {
  auto add = [&](int64_t bytes, const char *name, const char *className,
                 std::string note) {
    if (bytes < 0)
      return;
    // Those of the same height are one line with all their names: two in the
    // first line of its label, where there is room for them.
    for (Level &level : levels)
      if (level.bytes == bytes) {
        bool isFirst = level.name.find('=') == std::string::npos;
        if (isFirst)
          level.name += std::string(" = ") + name;
        else
          level.note += (level.note.empty() ? "" : ", ") +
                        llvm::StringRef(name).split(' ').first.str() + " too";
        return;
      }
    levels.push_back({bytes, name, className, std::move(note)});
  };
  int64_t peak = space.peak, bound = space.lowerBound, bump = space.bump;
  bool isPlan = space.mode == "planned" || space.mode == "bump";
  add(peak, isPlan ? "planned peak" : "peak", "peak",
      compare(peak, bound, "live set"));
  add(bound, "live set", "bound", "");
  add(bump, "bump watermark", "bump", compare(bump, peak, "peak"));
  add(space.capacity, "capacity", capacityClass, "");
  llvm::sort(levels,
             [](const Level &a, const Level &b) { return a.bytes < b.bytes; });
}

void Plot::findTop() {
  int64_t most = std::max<int64_t>(highest, 1);
  // What is far above the rest would flatten it. The label of such a level says
  // where it is; the capacity, which the heading has, is left out then.
  auto fits = [&](const Level &level, double factor) {
    return static_cast<double>(level.bytes) <= most * factor;
  };
  for (const Level &level : levels)
    if (level.className != capacityClass && fits(level, 2.5))
      most = std::max(most, level.bytes);
  llvm::erase_if(levels, [&](const Level &level) {
    return level.className == capacityClass && !fits(level, 1.25);
  });
  for (const Level &level : levels)
    if (level.className == capacityClass)
      most = std::max(most, level.bytes);
  top = most * 1.04;
}

//===----------------------------------------------------------------------===//
// Painting
//===----------------------------------------------------------------------===//

void Plot::paintGrid() {
  svg.rect(area, "plot");
  svg.raw("\n");
  for (const Tick &tick :
       getByteTicks(static_cast<int64_t>(std::min(top, 9.2e18)), 7)) {
    double y = getY(tick.value);
    if (tick.value > 0)
      svg.line(area.x, y, area.right(), y, "grid");
    svg.text(area.x - 8, y + 4, "e a", tick.text);
  }
  svg.text(area.x - 8, area.y - 8, "e c", stacked ? "stacked" : "address");
}

void Plot::paintBuffers() {
  BufferPainter painter(svg, space);
  for (const Level &level : levels)
    painter.addObstacle({area.x, getY(level.bytes) - 1, area.width, 2});
  for (auto [buffer, list] : llvm::zip_equal(space.buffers, extents)) {
    std::vector<Box> boxes;
    for (const Extent &extent : list) {
      double x = getX(extent.begin);
      double y = getY(double(extent.offset) + double(extent.bytes));
      boxes.push_back(
          {x, y, std::max(getX(extent.end) - x, 0.0), getY(extent.offset) - y});
    }
    painter.add(buffer, std::move(boxes), area);
  }
  painter.paint();
}

/// A level's line, and its label right of the plot at `textY`.
void Plot::paintLevel(const Level &level, double textY) {
  bool isShown = level.bytes <= top;
  double y = isShown ? getY(level.bytes) : area.y;
  svg.open("g");
  svg.title(level.name + ": " + std::to_string(level.bytes) + " bytes");
  svg.raw("\n");
  if (isShown)
    svg.line(area.x, y, area.right(), y, level.className);
  svg.line(area.right(), y, area.right() + 12, textY, "leader");
  double x = area.right() + 16;
  std::string name = level.name;
  // An arrow to what is above the picture.
  if (!isShown)
    name = "\u2191 " + name;
  svg.text(x, textY - 2, level.className == "peak" ? "k" : "", name);
  std::string size = formatBytes(level.bytes);
  if (!level.note.empty())
    size += " \u00b7 " + level.note;
  svg.text(x, textY + 11, "a", size);
  svg.close("g");
}

void Plot::paintLevels() {
  constexpr double distance = 32;
  // From the bottom up, each label at its line or above the one before; then
  // down again from the upper edge.
  std::vector<double> places;
  double below = area.bottom() + distance / 2;
  for (const Level &level : levels) {
    double y = level.bytes <= top ? getY(level.bytes) : area.y;
    below = std::min(y, below - distance);
    places.push_back(below);
  }
  double above = area.y - distance;
  for (double &place : llvm::reverse(places)) {
    place = std::max(place, above + distance);
    above = place;
  }
  for (auto [level, place] : llvm::zip_equal(levels, places))
    paintLevel(level, place);
}

/// A triangle above the place that makes the peak.
void Plot::paintPeakMark() {
  if (stacked || highest <= 0)
    return;
  const Extent *highestExtent = nullptr;
  for (const auto &list : extents)
    for (const Extent &extent : list)
      if (!highestExtent && addBytes(extent.offset, extent.bytes) == highest)
        highestExtent = &extent;
  double x = (getX(highestExtent->begin) + getX(highestExtent->end)) / 2;
  double y = getY(highest) - 1;
  auto number = [](double value) { return SvgWriter::number(value); };
  svg.path("M" + number(x) + " " + number(y) + "l-5 -8h10z", "mark");
}

/// Bytes in use over time: no finer than can be seen, each column's most.
void Plot::paintInUse(const Box &strip) {
  std::vector<BytesInUse> changes = getBytesInUse(space);
  constexpr double columnWidth = 0.5;
  std::vector<int64_t> columns(static_cast<size_t>(strip.width / columnWidth));
  auto getColumn = [&](int64_t step) {
    double column = (getX(step) - strip.x) / columnWidth;
    return std::min(static_cast<size_t>(std::max(column, 0.0)),
                    columns.size() - 1);
  };
  int64_t most = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    most = std::max(most, changes[i].bytes);
    int64_t end = i + 1 < changes.size() ? changes[i + 1].step : range.last;
    size_t first = getColumn(changes[i].step);
    for (size_t c = first, e = std::max(getColumn(end), first + 1); c < e; ++c)
      columns[c] = std::max(columns[c], changes[i].bytes);
    if (getX(end) >= strip.right() - columnWidth)
      columns.back() = std::max(columns.back(), changes[i].bytes);
  }
  svg.rect(strip, "plot");
  svg.raw("\n");
  auto number = [](double value) { return SvgWriter::number(value); };
  std::string data = "M" + number(strip.x) + " " + number(strip.bottom());
  int64_t last = 0;
  for (auto [index, bytes] : llvm::enumerate(columns)) {
    if (bytes == last)
      continue;
    data += "H" + number(strip.x + index * columnWidth) + "V" +
            number(strip.bottom() -
                   (strip.height - 2) * bytes / std::max<double>(most, 1));
    last = bytes;
  }
  data += "H" + number(strip.right()) + "V" + number(strip.bottom()) + "Z";
  svg.path(data, "use");
  svg.text(strip.x - 8, strip.y + 9, "e a", formatBytes(most));
  svg.text(strip.right() + 16, strip.y + strip.height / 2 + 4, "a",
           "bytes in use");
}

void Plot::paint() {
  paintGrid();
  paintBuffers();
  paintLevels();
  paintPeakMark();
  Box strip = {area.x, area.bottom() + stripGap, area.width, stripHeight};
  paintInUse(strip);
  paintSteps(strip);
}

/// The axis of time, below the strip.
void Plot::paintSteps(const Box &strip) {
  double widest = measureText(std::to_string(range.last), 11);
  double atMost = std::clamp(strip.width / (widest + 16), 1.0, 10.0);
  for (const Tick &tick :
       getStepTicks(range.first, range.last, static_cast<unsigned>(atMost))) {
    double x = getX(tick.value);
    svg.line(x, strip.bottom(), x, strip.bottom() + 4, "axis");
    // Clear of what is beside it.
    if (x + measureText(tick.text, 11) / 2 <= strip.right() + 12)
      svg.text(x, strip.bottom() + 17, "m a", tick.text);
  }
  std::string title = "time, in " + makePrintable(space.clock) + "s";
  svg.text(strip.right() + 16, strip.bottom() + 17, "c",
           fitText(title, 11, pictureWidth - strip.right() - 24));
}

/// The name of the space and what else is to be said of all of it.
static void paintHeading(SvgWriter &svg, const ReportedSpace &space, double y,
                         llvm::StringRef note) {
  std::string name = fitText(makePrintable(space.name), 15, 400);
  svg.text(24, y, "h", name);
  std::string text = makePrintable(space.mode);
  size_t count = space.buffers.size();
  text += (text.empty() ? "" : ", ") + std::to_string(count) +
          (count == 1 ? " buffer" : " buffers");
  if (space.capacity >= 0)
    text += ", capacity " + formatBytes(space.capacity);
  text += note;
  svg.text(24 + measureText(name, 15) * 1.08 + 12, y, "c", text);
}

double mlir::pol::paintPlot(SvgWriter &svg, const ReportedSpace &space,
                            StepRange range, double y, double height) {
  Plot plot(svg, space, range,
            {plotLeft, y + 50, plotRight - plotLeft, height});
  std::string note;
  if (plot.isStacked()) {
    if (space.peak >= 0)
      note += ", peak " + formatBytes(space.peak);
    note += "; addresses are not known: heights are sizes, and no more";
  }
  paintHeading(svg, space, y + 16, note);
  plot.paint();
  return y + 50 + height + stripGap + stripHeight + 24;
}

double mlir::pol::paintBar(SvgWriter &svg, const ReportedSpace &space,
                           double y) {
  Box bar = {plotLeft, y + 30, plotRight - plotLeft, 34};
  double total = 0;
  for (const ReportedBuffer &buffer : space.buffers)
    total += double(buffer.bytes);
  paintHeading(svg, space, y + 16, "");
  svg.rect(bar, "plot");
  svg.raw("\n");
  BufferPainter painter(svg, space);
  double x = bar.x;
  for (const ReportedBuffer &buffer : space.buffers) {
    double width = total > 0 ? bar.width * double(buffer.bytes) / total : 0;
    painter.add(buffer, {{x, bar.y, width, bar.height}}, bar);
    x += width;
  }
  painter.paint();
  int64_t bytes = static_cast<int64_t>(std::min(total, 9.2e18));
  svg.text(bar.right() + 16, bar.y + 14, "k", "in all");
  svg.text(bar.right() + 16, bar.y + 27, "a", formatBytes(bytes));
  return bar.bottom();
}
