//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Buffers as rectangles that have a colour by role, a label where it fits, and
// all there is to say about them in a title.

#ifndef POL_LIB_ANALYSIS_MEMORYREPORT_SVGBUFFERS_H
#define POL_LIB_ANALYSIS_MEMORYREPORT_SVGBUFFERS_H

#include "SvgWriter.h"
#include "pol/Analysis/MemoryReport.h"

namespace mlir::pol {

/// The roles in the order of the legend; any other is the last.
constexpr const char *reportRoles[] = {"output", "checkpoint", "scratch",
                                       "hidden", "other"};
llvm::StringRef getRoleClass(const ReportedBuffer &buffer);

/// "8 ops", "1 event".
std::string countSteps(const ReportedSpace &space, int64_t count);

class BufferPainter {
public:
  BufferPainter(SvgWriter &svg, const ReportedSpace &space)
      : svg(svg), space(space) {}

  /// What the buffer takes, in `area`. A box too thin to see becomes a
  /// hairline.
  void add(const ReportedBuffer &buffer, std::vector<Box> boxes,
           const Box &area);
  /// Labels keep clear of it.
  void addObstacle(const Box &box) { taken.push_back(box); }
  void paint();

private:
  struct Item {
    const ReportedBuffer *buffer;
    std::vector<Box> boxes;
    double size; // of all boxes together
  };

  std::string getFacts(const ReportedBuffer &buffer) const;
  void paintLabel(const ReportedBuffer &buffer, const Box &box);
  bool paintHorizontal(llvm::StringRef text, llvm::StringRef bytes,
                       const Box &box);
  bool paintVertical(llvm::StringRef text, const Box &box);
  bool take(const Box &box);

  SvgWriter &svg;
  const ReportedSpace &space;
  std::vector<Item> items;
  std::vector<Box> taken;
};

} // namespace mlir::pol

#endif // POL_LIB_ANALYSIS_MEMORYREPORT_SVGBUFFERS_H
