//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SvgBuffers.h"

#include "Bytes.h"
#include "Extents.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::pol;

/// What is thinner could not be seen.
static constexpr double hairline = 0.75;
/// Between a label and the sides of its box.
static constexpr double padding = 4;
static constexpr double fontSize = 11, smallFontSize = 9;

llvm::StringRef mlir::pol::getRoleClass(const ReportedBuffer &buffer) {
  for (const char *role : reportRoles)
    if (buffer.role == role)
      return role;
  return "other";
}

std::string mlir::pol::countSteps(const ReportedSpace &space, int64_t count) {
  std::string text = std::to_string(count) + " " + makePrintable(space.clock);
  return count == 1 ? text : text + "s";
}

//===----------------------------------------------------------------------===//
// Titles
//===----------------------------------------------------------------------===//

static std::string countBytes(int64_t bytes) {
  std::string exact = std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  return bytes < 1024 ? exact : formatBytes(bytes) + " (" + exact + ")";
}

std::string BufferPainter::getFacts(const ReportedBuffer &buffer) const {
  std::string facts =
      buffer.name.empty() ? "(no name)" : makePrintable(buffer.name);
  auto add = [&](const std::string &fact) { facts += "\n" + fact; };
  auto addText = [&](const char *what, llvm::StringRef text) {
    if (!text.empty())
      add(what + makePrintable(text));
  };
  addText("kernel: ", buffer.kernel);
  addText("role: ", buffer.role);
  addText("space: ", space.name);
  add(countBytes(buffer.bytes));
  if (buffer.offset >= 0)
    add("offset: " + std::to_string(buffer.offset) + " to " +
        std::to_string(addBytes(buffer.offset, buffer.bytes)));
  std::string clock = makePrintable(space.clock);
  if (!clock.empty())
    add("live: " + clock + " " + std::to_string(buffer.begin) +
        (buffer.end < 0 ? " to the end"
                        : " to before " + std::to_string(buffer.end)));
  if (buffer.times > 1)
    add("times: " + std::to_string(buffer.times));
  if (buffer.keptFrom >= 0 && buffer.keptBytes >= 0)
    add("from " + clock + " " + std::to_string(buffer.keptFrom) +
        " only the first " + countBytes(buffer.keptBytes));
  addText("function: @", buffer.function);
  addText("at ", buffer.location);
  return facts;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// A box with a gap to its neighbours, or a hairline, inside the area.
static Box makeVisible(Box box, const Box &area) {
  auto shrink = [](double &start, double &length) {
    double gap = std::min(0.4, length * 0.1);
    start += gap;
    length -= 2 * gap;
  };
  shrink(box.x, box.width);
  shrink(box.y, box.height);
  if (box.height < hairline) {
    // Up from its offset, which is where the box ends.
    box.y = box.bottom() - hairline;
    box.height = hairline;
  }
  box.width = std::max(box.width, hairline);
  box.x = std::clamp(box.x, area.x, area.right() - box.width);
  box.y = std::clamp(box.y, area.y, area.bottom() - box.height);
  return box;
}

void BufferPainter::add(const ReportedBuffer &buffer, std::vector<Box> boxes,
                        const Box &area) {
  double size = 0;
  for (Box &box : boxes) {
    box = makeVisible(box, area);
    size += box.width * box.height;
  }
  items.push_back({&buffer, std::move(boxes), size});
}

void BufferPainter::paint() {
  // A hairline is seen on top of what it is in front of. The buffers are those
  // of one list, in the order of which equals stay.
  llvm::sort(items, [](const Item &a, const Item &b) {
    return a.size != b.size ? a.size > b.size : a.buffer < b.buffer;
  });
  for (const Item &item : items) {
    svg.open("g", "b " + getRoleClass(*item.buffer).str());
    svg.title(getFacts(*item.buffer));
    for (const Box &box : item.boxes)
      svg.rect(box);
    svg.close("g");
  }
  svg.open("g", "l");
  svg.raw("\n");
  auto area = [](const Box &box) { return box.width * box.height; };
  for (const Item &item : items) {
    // Each of its lives, but once if it is one that shrinks.
    llvm::ArrayRef<Box> boxes = item.boxes;
    if (item.buffer->lives.empty() && boxes.size() == 2)
      boxes = area(boxes[0]) < area(boxes[1]) ? boxes.drop_front()
                                              : boxes.drop_back();
    for (const Box &box : boxes)
      paintLabel(*item.buffer, box);
  }
  svg.close("g");
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

bool BufferPainter::take(const Box &box) {
  if (llvm::any_of(taken, [&](const Box &b) { return b.overlaps(box); }))
    return false;
  taken.push_back(box);
  return true;
}

/// The height of a line of text, from above its capitals to below the baseline.
static double getLineHeight(double size) { return size * 1.25; }

bool BufferPainter::paintHorizontal(llvm::StringRef text, llvm::StringRef bytes,
                                    const Box &box) {
  double size =
      box.height >= getLineHeight(fontSize) ? fontSize : smallFontSize;
  double line = getLineHeight(size), room = box.width - 2 * padding;
  if (box.height < line)
    return false;
  bool twoLines = box.height >= 2 * line + padding &&
                  measureText(bytes, smallFontSize) <= room;
  double height = twoLines ? line + getLineHeight(smallFontSize) : line;
  double width = measureText(text, size);
  if (twoLines)
    width = std::max(width, measureText(bytes, smallFontSize));
  // In the middle, or where nothing crosses it.
  double middle = box.y + (box.height - height) / 2;
  for (double y : {middle, box.y + 1, box.bottom() - height - 1}) {
    if (y < box.y || !take({box.x + (box.width - width) / 2, y, width, height}))
      continue;
    llvm::StringRef className = size == fontSize ? "m" : "m t";
    double x = box.x + box.width / 2;
    svg.text(x, y + line * 0.77, className, text);
    if (twoLines)
      svg.text(x, y + line + getLineHeight(smallFontSize) * 0.77, "m t q",
               bytes);
    return true;
  }
  return false;
}

bool BufferPainter::paintVertical(llvm::StringRef text, const Box &box) {
  double size = box.width >= getLineHeight(fontSize) ? fontSize : smallFontSize;
  double line = getLineHeight(size), length = measureText(text, size);
  if (box.width < line)
    return false;
  double x = box.x + (box.width - line) / 2;
  double middle = box.y + (box.height - length) / 2;
  for (double y : {middle, box.y + padding, box.bottom() - length - padding}) {
    if (!take({x, y, line, length}))
      continue;
    svg.verticalText(x + line * 0.77, y + length / 2,
                     size == fontSize ? "m" : "m t", text);
    return true;
  }
  return false;
}

void BufferPainter::paintLabel(const ReportedBuffer &buffer, const Box &box) {
  if (box.height < getLineHeight(smallFontSize) ||
      box.width < getLineHeight(smallFontSize))
    return;
  std::string bytes = formatBytes(buffer.bytes);
  std::string name = makePrintable(buffer.name);
  if (name.empty())
    name = makePrintable(buffer.kernel);
  if (name.empty())
    std::swap(name, bytes);
  auto sizeAcross = [](double across) {
    return across >= getLineHeight(fontSize) ? fontSize : smallFontSize;
  };
  std::string horizontal =
      fitText(name, sizeAcross(box.height), box.width - 2 * padding);
  std::string vertical =
      fitText(name, sizeAcross(box.width), box.height - 2 * padding);
  bool upright = horizontal.size() < vertical.size() && horizontal != name;
  if (upright && paintVertical(vertical, box))
    return;
  if (!horizontal.empty())
    paintHorizontal(horizontal, bytes, box);
}
