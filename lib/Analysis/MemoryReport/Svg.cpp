//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"
#include "SvgBuffers.h"
#include "SvgPlot.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir::pol;

/// Colours are light, for dark text on them, and differ in brightness as well
/// as in hue, for eyes that do not tell red from green. Everything has a colour
/// of its own: the page around the picture may be dark.
static const char *const style = R"(<style>
text{font:11px Helvetica,Arial,"Liberation Sans","DejaVu Sans",sans-serif;fill:#222}
.s{text-anchor:start}.m{text-anchor:middle}.e{text-anchor:end}
.l{pointer-events:none}
.l .t{font-size:9px}.l .q{fill:#333}
.a{fill:#555}.c{fill:#6b6b6b}.k{font-weight:bold}
.h{font-size:15px;font-weight:bold}
.H{font-size:20px;font-weight:bold}
.output{fill:#74a9e0}.checkpoint{fill:#f3c04f}.scratch{fill:#bde5b5}.hidden{fill:#e0705a}.other{fill:#a2a2aa}
.b:hover rect{stroke:#111;stroke-width:1.5}
.plot{fill:#fafafa}
.grid{stroke:#e6e6e6}
.axis{stroke:#aaa}
.use{fill:#c9cfd6}
.peak,.bound,.bump,.capacity{stroke:#222;fill:none}
.peak{stroke-width:1.5}
.bound{stroke-dasharray:6 3}
.bump{stroke-dasharray:1.5 3;stroke-width:1.5}
.capacity{stroke-dasharray:10 3 2 3}
.leader{stroke:#aaa}
.mark{fill:#222}
</style>
)";

/// The roles that there are, each with the number of its buffers.
static void paintLegend(SvgWriter &svg, const MemoryReport &report, double y) {
  llvm::StringMap<size_t> counts;
  for (const ReportedSpace &space : report.spaces)
    for (const ReportedBuffer &buffer : space.buffers)
      ++counts[getRoleClass(buffer)];
  double x = 24;
  for (llvm::StringRef role : reportRoles) {
    size_t count = counts.lookup(role);
    if (count == 0)
      continue;
    svg.rect({x, y - 10, 12, 12}, role);
    std::string text = role.str() + " (" + std::to_string(count) + ")";
    svg.text(x + 18, y, "a", text);
    x += 18 + measureText(text, 11) + 20;
  }
}

/// For each clock, the steps of all spaces that have it.
static llvm::StringMap<StepRange> getRanges(const MemoryReport &report) {
  llvm::StringMap<StepRange> ranges;
  for (const ReportedSpace &space : report.spaces) {
    if (space.buffers.empty())
      continue;
    StepRange range = {getLastStep(space), getLastStep(space)};
    for (const ReportedBuffer &buffer : space.buffers)
      range.first = std::min(range.first, buffer.begin);
    range.last = std::max(range.last, range.first + 1);
    auto [found, isNew] = ranges.try_emplace(space.clock, range);
    found->second.first = std::min(found->second.first, range.first);
    found->second.last = std::max(found->second.last, range.last);
  }
  return ranges;
}

/// More buffers get more room, more plots less.
static double getPlotHeight(const ReportedSpace &space, size_t plots) {
  double most = space.buffers.size() > 1000  ? 900
                : space.buffers.size() > 150 ? 640
                                             : 440;
  return std::max(most / (1 + 0.4 * (plots - 1.0)), 240.0);
}

/// Everything below the heading; returns where it ends.
static double paintSpaces(SvgWriter &svg, const MemoryReport &report,
                          double y) {
  llvm::StringMap<StepRange> ranges = getRanges(report);
  size_t plots = llvm::count_if(report.spaces, [](const ReportedSpace &space) {
    return !space.buffers.empty() && !space.clock.empty();
  });
  bool any = false;
  std::string empty;
  for (const ReportedSpace &space : report.spaces) {
    if (space.buffers.empty()) {
      empty += (empty.empty() ? "" : ", ") + makePrintable(space.name);
      continue;
    }
    y = space.clock.empty() ? paintBar(svg, space, y)
                            : paintPlot(svg, space, ranges.lookup(space.clock),
                                        y, getPlotHeight(space, plots));
    any = true;
    y += 30;
  }
  if (any && empty.empty())
    return y;
  std::string text = "No buffers";
  if (any)
    text += " in " + empty;
  svg.text(24, y + 12, "c", fitText(text + ".", 11, pictureWidth - 48));
  return y + 36;
}

void mlir::pol::printSvg(llvm::raw_ostream &os, const MemoryReport &report) {
  std::string body;
  llvm::raw_string_ostream stream(body);
  SvgWriter svg(stream);
  std::string heading = "Memory";
  if (!report.entry.empty())
    heading += " of " + makePrintable(report.entry);
  svg.text(24, 38, "H", fitText(heading, 20, (pictureWidth - 48) / 1.1));
  paintLegend(svg, report, 64);
  double bottom = paintSpaces(svg, report, 88);
  std::string size =
      SvgWriter::number(pictureWidth) + " " + SvgWriter::number(bottom);
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << size
     << "\" width=\"" << SvgWriter::number(pictureWidth) << "\" height=\""
     << SvgWriter::number(bottom) << "\" role=\"img\" aria-label=\""
     << SvgWriter::escape(heading) << "\">\n"
     << style << "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
     << body << "</svg>\n";
}
