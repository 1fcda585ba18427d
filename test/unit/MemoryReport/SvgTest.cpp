//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Picture.h"
#include "SampleReports.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ConvertUTF.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <fstream>

using namespace mlir::pol;

namespace {
struct Area {
  double x1, y1, x2, y2;
};
} // namespace

static bool overlap(const Area &a, const Area &b) {
  return a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2;
}

/// Draws the report; nothing if the result is not XML. Also writes it to the
/// folder POL_REPORT_PICTURES, if that is set, to be looked at.
static std::optional<Element> draw(const MemoryReport &report,
                                   const std::string &name) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printSvg(os, report);
  if (const char *folder = std::getenv("POL_REPORT_PICTURES"))
    std::ofstream(std::string(folder) + "/" + name + ".svg") << text;
  return parseXml(text);
}

static size_t countLetters(llvm::StringRef text) {
  size_t count = 0;
  for (unsigned char c : text)
    count += (c & 0xC0) != 0x80;
  return count;
}

/// Where a text is, taking letters to be as wide as they are on average.
static Area getArea(const Element &text) {
  double size = text.hasClass("H")   ? 20
                : text.hasClass("h") ? 15
                : text.hasClass("t") ? 9
                                     : 11;
  double width = 0.52 * size * countLetters(text.text);
  auto found = text.attributes.find("transform");
  if (found != text.attributes.end()) {
    double x = 0, y = 0;
    EXPECT_EQ(std::sscanf(found->second.c_str(), "translate(%lf %lf)", &x, &y),
              2);
    return {x - 0.75 * size, y - width / 2, x + 0.2 * size, y + width / 2};
  }
  double x = text.number("x"), y = text.number("y");
  x -= text.hasClass("m") ? width / 2 : text.hasClass("e") ? width : 0;
  return {x, y - 0.75 * size, x + width, y + 0.2 * size};
}

static Area getArea(const Element &element, const Element &root) {
  if (element.name == "text")
    return getArea(element);
  if (element.name == "line")
    return {element.number("x1"), element.number("y1"), element.number("x2"),
            element.number("y2")};
  if (element.attributes.at("width") == "100%")
    return {0, 0, root.number("width"), root.number("height")};
  double x = element.number("x"), y = element.number("y");
  return {x, y, x + element.number("width"), y + element.number("height")};
}

/// Everything is inside the picture, and no text is on another.
static void checkPlaces(const Element &root) {
  double width = root.number("width"), height = root.number("height");
  EXPECT_EQ(root.attributes.at("viewBox"),
            "0 0 " + root.attributes.at("width") + " " +
                root.attributes.at("height"));
  std::vector<std::pair<Area, const Element *>> texts;
  for (const Element *element : root.all()) {
    if (element->name != "text" && element->name != "line" &&
        element->name != "rect")
      continue;
    Area area = getArea(*element, root);
    EXPECT_TRUE(area.x1 >= 0 && area.x2 <= width && area.y1 >= 0 &&
                area.y2 <= height)
        << element->name << " '" << element->text << "' at " << area.x1 << " "
        << area.y1 << " " << area.x2 << " " << area.y2;
    if (element->name != "text")
      continue;
    for (const auto &[other, what] : texts)
      EXPECT_FALSE(overlap(area, other))
          << "'" << element->text << "' is on '" << what->text << "'";
    texts.push_back({area, element});
  }
}

static bool isInside(const Area &inner, const Area &outer) {
  constexpr double slack = 0.02;
  return inner.x1 >= outer.x1 - slack && inner.x2 <= outer.x2 + slack &&
         inner.y1 >= outer.y1 - slack && inner.y2 <= outer.y2 + slack;
}

/// Buffers are inside plots, labels inside buffers, and no line of a level goes
/// through a label.
static void checkBuffers(const Element &root) {
  std::vector<Area> plots, boxes, labels, lines;
  for (const Element *element : root.all()) {
    if (element->name == "rect" && element->hasClass("plot"))
      plots.push_back(getArea(*element, root));
    if (element->name == "line" &&
        (element->hasClass("peak") || element->hasClass("bound") ||
         element->hasClass("bump")))
      lines.push_back(getArea(*element, root));
    for (const Element &child : element->children) {
      if (element->hasClass("b") && child.name == "rect")
        boxes.push_back(getArea(child, root));
      if (element->hasClass("l"))
        labels.push_back(getArea(child));
    }
  }
  auto isInAny = [](const Area &area, const std::vector<Area> &areas) {
    for (const Area &outer : areas)
      if (isInside(area, outer))
        return true;
    return false;
  };
  for (const Area &box : boxes)
    EXPECT_TRUE(isInAny(box, plots)) << box.x1 << " " << box.y1;
  for (const Area &label : labels) {
    EXPECT_TRUE(isInAny(label, boxes)) << label.x1 << " " << label.y1;
    for (const Area &line : lines)
      EXPECT_FALSE(label.x1 < line.x2 && line.x1 < label.x2 &&
                   label.y1 < line.y1 && line.y1 < label.y2)
          << label.x1 << " " << label.y1;
  }
}

/// The groups of buffers, each with a title and with rectangles to be seen.
static std::vector<const Element *> getBuffers(const Element &root) {
  std::vector<const Element *> buffers;
  for (const Element *element : root.all()) {
    if (!element->hasClass("b"))
      continue;
    buffers.push_back(element);
    EXPECT_TRUE(element->find("title"));
    EXPECT_TRUE(element->find("rect"));
    for (const Element &child : element->children)
      if (child.name == "rect") {
        EXPECT_GE(child.number("width"), 0.7);
        EXPECT_GE(child.number("height"), 0.7);
      }
  }
  return buffers;
}

static size_t countLabels(const Element &root) {
  size_t count = 0;
  for (const Element *element : root.all())
    if (element->hasClass("l"))
      for (const Element &child : element->children)
        count += !child.hasClass("q");
  return count;
}

static std::string getAllText(const Element &root) {
  std::string result;
  for (const Element *element : root.all())
    if (element->name == "text")
      result += element->text + "\n";
  return result;
}

TEST(Svg, EverySizeIsLegible) {
  for (unsigned size : {1, 5, 50, 500, 5000}) {
    SCOPED_TRACE(size);
    MemoryReport report = makeSampleReport(size);
    auto root = draw(report, "sample-" + std::to_string(size));
    ASSERT_TRUE(root);
    checkPlaces(*root);
    checkBuffers(*root);
    EXPECT_EQ(getBuffers(*root).size(), size);
    // Among thousands hardly any has room.
    if (size <= 500)
      EXPECT_GE(countLabels(*root), std::min(size, 5u) * 3 / 5);
  }
}

TEST(Svg, TitlesSayEverything) {
  ReportedSpace space;
  space.name = "arena0";
  space.clock = "op";
  space.mode = "planned";
  space.buffers.push_back({"rstd",
                           "pol.rms_norm",
                           "checkpoint",
                           "a.mlir:3:5",
                           "f",
                           2048,
                           256,
                           3,
                           9,
                           4,
                           {},
                           5,
                           1024});
  auto root = draw({"f", {space}}, "titles");
  ASSERT_TRUE(root);
  auto buffers = getBuffers(*root);
  ASSERT_EQ(buffers.size(), 1u);
  EXPECT_EQ(buffers[0]->find("title")->text,
            "rstd\nkernel: pol.rms_norm\nrole: checkpoint\nspace: arena0\n"
            "2 KiB (2048 bytes)\noffset: 256 to 2304\n"
            "live: op 3 to before 9\ntimes: 4\n"
            "from op 5 only the first 1 KiB (1024 bytes)\nfunction: @f\n"
            "at a.mlir:3:5");
  EXPECT_TRUE(buffers[0]->hasClass("checkpoint"));
  // Before and after it shrinks.
  ASSERT_EQ(buffers[0]->children.size(), 3u);
  const Element &full = buffers[0]->children[1];
  const Element &kept = buffers[0]->children[2];
  EXPECT_NEAR(full.number("height") / kept.number("height"), 2, 0.05);
  EXPECT_NEAR(full.number("y") + full.number("height"),
              kept.number("y") + kept.number("height"), 0.05);
  EXPECT_NEAR(kept.number("width") / full.number("width"), 2, 0.05);
  EXPECT_EQ(countLabels(*root), 1u);
}

/// Times go to the right, addresses up, in proportion.
TEST(Svg, PlacesAreProportional) {
  ReportedSpace space;
  space.clock = "op";
  space.steps = 10;
  for (int64_t i = 0; i < 5; ++i) {
    ReportedBuffer buffer;
    buffer.bytes = 1024;
    buffer.offset = i * 1024;
    buffer.begin = 2 * i;
    buffer.end = 2 * i + 2;
    space.buffers.push_back(buffer);
  }
  space.buffers.back().end = -1;
  auto root = draw({"", {space}}, "stairs");
  ASSERT_TRUE(root);
  auto buffers = getBuffers(*root);
  ASSERT_EQ(buffers.size(), 5u);
  const Element *first = buffers[0]->find("rect");
  std::map<double, double> places;
  for (const Element *buffer : buffers)
    places[buffer->find("rect")->number("x")] =
        buffer->find("rect")->number("y");
  ASSERT_EQ(places.size(), 5u);
  double step = first->number("width") + 0.8;
  double height = first->number("height") + 0.8;
  auto previous = places.begin();
  for (auto next = std::next(previous); next != places.end(); ++next) {
    EXPECT_NEAR(next->first - previous->first, step, 0.1);
    EXPECT_NEAR(previous->second - next->second, height, 0.1);
    previous = next;
  }
}

TEST(Svg, LevelsAreMarked) {
  MemoryReport report = makeSampleReport(50);
  ReportedSpace &space = report.spaces[0];
  auto root = draw(report, "levels");
  ASSERT_TRUE(root);
  std::map<std::string, double> lines;
  std::string titles;
  for (const Element *element : root->all()) {
    if (element->name == "line")
      lines[element->attributes.at("class")] = element->number("y1");
    if (element->name == "title")
      titles += element->text + "\n";
  }
  ASSERT_TRUE(lines.count("peak") && lines.count("bump"));
  EXPECT_LT(lines["bump"], lines["peak"]);
  for (auto [name, bytes] : {std::pair("planned peak", space.peak),
                             std::pair("bump watermark", space.bump)})
    EXPECT_NE(titles.find(name + (": " + std::to_string(bytes)) + " bytes"),
              std::string::npos)
        << name;
  EXPECT_NE(getAllText(*root).find("live set"), std::string::npos);
}

/// A level through the middle of a buffer, where its label would be.
TEST(Svg, LevelsDoNotCrossLabels) {
  ReportedSpace space;
  space.clock = "op";
  ReportedBuffer buffer;
  buffer.name = "x";
  buffer.bytes = 1 << 20;
  buffer.offset = 0;
  space.buffers.push_back(buffer);
  for (int64_t percent = 40; percent <= 60; ++percent) {
    space.lowerBound = buffer.bytes / 100 * percent;
    auto root = draw({"", {space}}, "crossed");
    ASSERT_TRUE(root);
    EXPECT_EQ(countLabels(*root), 1u);
    checkBuffers(*root);
  }
}

/// The labels of levels near each other, at either edge, keep apart.
TEST(Svg, LevelsNearEachOther) {
  for (int64_t base : {0, 98}) {
    ReportedSpace space;
    space.clock = "op";
    space.bump = base;
    space.lowerBound = base + 1;
    space.peak = base + 2;
    ReportedBuffer buffer;
    buffer.bytes = 100;
    buffer.offset = 0;
    space.buffers.push_back(buffer);
    auto root = draw({"", {space}}, "near");
    ASSERT_TRUE(root);
    checkPlaces(*root);
    auto plot = llvm::find_if(root->children, [](const Element &element) {
      return element.hasClass("plot");
    });
    for (const Element *element : root->all())
      if (element->name == "text" && element->hasClass("k"))
        EXPECT_GE(element->number("y"), plot->number("y") - 15);
  }
}

/// What begins at the very end, of no length and of no bytes.
TEST(Svg, BuffersAtTheEdges) {
  ReportedSpace space;
  space.clock = "op";
  space.steps = 100000;
  for (int64_t step : {0, 99999})
    for (int64_t offset : {0, 1000}) {
      ReportedBuffer buffer;
      buffer.offset = offset;
      buffer.begin = buffer.end = step;
      space.buffers.push_back(buffer);
    }
  space.buffers.push_back(space.buffers.front());
  space.buffers.back().bytes = 1000;
  auto root = draw({"", {space}}, "edges");
  ASSERT_TRUE(root);
  EXPECT_EQ(getBuffers(*root).size(), 5u);
  checkBuffers(*root);
}

TEST(Svg, FarLevelsDoNotFlatten) {
  MemoryReport report = makeSampleReport(5);
  auto getHeight = [](const Element &root) {
    double height = 0;
    for (const Element *buffer : getBuffers(root))
      height = std::max(height, buffer->find("rect")->number("height"));
    return height;
  };
  report.spaces[0].bump = report.spaces[0].peak;
  auto near = draw(report, "bump-near");
  report.spaces[0].bump = 1000 * report.spaces[0].peak;
  auto far = draw(report, "bump-far");
  ASSERT_TRUE(near && far);
  EXPECT_EQ(getHeight(*near), getHeight(*far));
  EXPECT_NE(getAllText(*far).find("\u2191 bump watermark"), std::string::npos);
}

TEST(Svg, NoBuffers) {
  for (const MemoryReport &report :
       {MemoryReport(), MemoryReport{"f", {ReportedSpace()}},
        makeSampleReport(0)}) {
    auto root = draw(report, "none");
    ASSERT_TRUE(root);
    checkPlaces(*root);
    checkBuffers(*root);
    EXPECT_NE(getAllText(*root).find("No buffers"), std::string::npos);
  }
}

TEST(Svg, HostileNames) {
  MemoryReport report = makeHostileReport();
  auto root = draw(report, "hostile");
  ASSERT_TRUE(root);
  checkPlaces(*root);
  size_t buffers = 0;
  for (const ReportedSpace &space : report.spaces)
    buffers += space.buffers.size();
  EXPECT_EQ(getBuffers(*root).size(), buffers);
  std::string titles;
  for (const Element *element : root->all()) {
    EXPECT_NE(element->name, "script");
    if (element->name == "title")
      titles += element->text;
  }
  EXPECT_NE(titles.find("<script>alert('&')</script>"), std::string::npos);
}

/// Buffers of a heap are drawn too, none on another, without levels.
TEST(Svg, UnknownOffsetsAreStacked) {
  MemoryReport report = makeSampleReport(50);
  report.spaces[0].mode = "heap";
  for (ReportedBuffer &buffer : report.spaces[0].buffers)
    buffer.offset = -1;
  auto root = draw(report, "heap");
  ASSERT_TRUE(root);
  checkPlaces(*root);
  checkBuffers(*root);
  auto buffers = getBuffers(*root);
  ASSERT_EQ(buffers.size(), 50u);
  std::vector<Area> areas;
  for (const Element *buffer : buffers) {
    const Element *rect = buffer->find("rect");
    Area area = getArea(*rect, *root);
    // Hairlines are thicker than what they stand for.
    if (rect->number("height") < 1 || rect->number("width") < 1)
      continue;
    for (const Area &other : areas)
      EXPECT_FALSE(overlap(area, other));
    areas.push_back(area);
  }
  EXPECT_GT(areas.size(), 20u);
  EXPECT_EQ(getAllText(*root).find("watermark"), std::string::npos);
}

TEST(Svg, BufferOfTheStack) {
  MemoryReport report = makeSampleReport(12);
  ReportedSpace stack;
  stack.name = stack.mode = "stack";
  for (int64_t i = 0; i < 6; ++i) {
    ReportedBuffer buffer;
    buffer.name = "row_max" + std::to_string(i);
    buffer.role = "scratch";
    buffer.function = "softmax";
    buffer.bytes = 64 << i;
    stack.buffers.push_back(buffer);
  }
  report.spaces.push_back(stack);
  auto root = draw(report, "stack");
  ASSERT_TRUE(root);
  checkPlaces(*root);
  EXPECT_EQ(getBuffers(*root).size(), 18u);
  EXPECT_NE(getAllText(*root).find("row_max5"), std::string::npos);
}

/// Each of the times is a rectangle, all of one buffer.
TEST(Svg, LivesOneByOne) {
  ReportedSpace space;
  space.clock = "event";
  ReportedBuffer buffer;
  buffer.bytes = 100;
  buffer.offset = 0;
  buffer.times = 3;
  buffer.lives = {{0, 0, 1}, {100, 4, 5}, {0, 8, -1}};
  space.buffers.push_back(buffer);
  auto root = draw({"", {space}}, "lives");
  ASSERT_TRUE(root);
  checkPlaces(*root);
  ASSERT_EQ(getBuffers(*root).size(), 1u);
  EXPECT_EQ(getBuffers(*root)[0]->children.size(), 4u);
  EXPECT_EQ(countLabels(*root), 3u);
}
