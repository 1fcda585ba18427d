//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// One space in a picture: time against address, or a bar where there is no
// time.

#ifndef POL_LIB_ANALYSIS_MEMORYREPORT_SVGPLOT_H
#define POL_LIB_ANALYSIS_MEMORYREPORT_SVGPLOT_H

#include "SvgWriter.h"
#include "pol/Analysis/MemoryReport.h"

namespace mlir::pol {

/// Steps that a picture shows.
struct StepRange {
  int64_t first, last;
};

/// Where things are across the picture. Labels of lines stand right of plots.
constexpr double pictureWidth = 1200, plotLeft = 92, plotRight = 1008;

/// Paints the space from `y` on and returns where it ends. `range` is that of
/// all spaces with the same clock, so that their times are above each other.
double paintPlot(SvgWriter &svg, const ReportedSpace &space, StepRange range,
                 double y, double height);

/// The same where there is no time: a bar of all buffers.
double paintBar(SvgWriter &svg, const ReportedSpace &space, double y);

} // namespace mlir::pol

#endif // POL_LIB_ANALYSIS_MEMORYREPORT_SVGPLOT_H
