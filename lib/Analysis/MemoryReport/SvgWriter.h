//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Elements of SVG, escaped and with short numbers, and the width of text.

#ifndef POL_LIB_ANALYSIS_MEMORYREPORT_SVGWRITER_H
#define POL_LIB_ANALYSIS_MEMORYREPORT_SVGWRITER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace mlir::pol {

struct Box {
  double x, y, width, height;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool overlaps(const Box &other) const {
    return x < other.right() && other.x < right() && y < other.bottom() &&
           other.y < bottom();
  }
};

/// `text` as UTF-8 that XML allows: anything else becomes U+FFFD, line breaks
/// and tabs a blank.
std::string makePrintable(llvm::StringRef text);

/// At least the width of printable text at that size, in the fonts that
/// pictures ask for.
double measureText(llvm::StringRef text, double size);

/// The text, or as much of it as fits with an ellipsis, or nothing where that
/// would be less than `atLeast` letters.
std::string fitText(llvm::StringRef text, double size, double width,
                    unsigned atLeast = 5);

class SvgWriter {
public:
  explicit SvgWriter(llvm::raw_ostream &os) : os(os) {}

  void open(llvm::StringRef element, llvm::StringRef className = "");
  void close(llvm::StringRef element);
  void title(llvm::StringRef text);
  void rect(const Box &box, llvm::StringRef className = "");
  void line(double x1, double y1, double x2, double y2,
            llvm::StringRef className);
  void path(llvm::StringRef data, llvm::StringRef className);
  /// Text on the baseline y. The anchor is a class: s(tart), m(iddle), e(nd).
  void text(double x, double y, llvm::StringRef className,
            llvm::StringRef text);
  /// The same, from the bottom to the top.
  void verticalText(double x, double y, llvm::StringRef className,
                    llvm::StringRef text);
  /// Text of the writer's own making, as it is.
  void raw(llvm::StringRef text) { os << text; }

  /// At most two decimals, without zeros at the end.
  static std::string number(double value);
  static std::string escape(llvm::StringRef printable);

private:
  llvm::raw_ostream &os;
};

} // namespace mlir::pol

#endif // POL_LIB_ANALYSIS_MEMORYREPORT_SVGWRITER_H
