//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SvgWriter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"
#include <cmath>

using namespace mlir::pol;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Takes the first character of valid UTF-8.
static llvm::StringRef takeCharacter(llvm::StringRef &text) {
  size_t size = std::min<size_t>(
      llvm::getNumBytesForUTF8(static_cast<llvm::UTF8>(text.front())),
      text.size());
  llvm::StringRef character = text.take_front(size);
  text = text.drop_front(size);
  return character;
}

std::string mlir::pol::makePrintable(llvm::StringRef text) {
  static const char *const replacement = "\xEF\xBF\xBD";
  std::string valid = llvm::json::fixUTF8(text);
  std::string result;
  for (llvm::StringRef rest = valid; !rest.empty();) {
    llvm::StringRef character = takeCharacter(rest);
    unsigned char first = character.front();
    // C1 controls and the two noncharacters that XML excludes.
    bool isBad = character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF" ||
                 (character.size() == 2 && first == 0xC2 &&
                  static_cast<unsigned char>(character[1]) < 0xA0);
    if (first == '\n' || first == '\t' || first == '\r')
      result += ' ';
    else if (first < ' ' || first == 0x7F || isBad)
      result += replacement;
    else
      result += character;
  }
  return result;
}

/// In thousandths of the size of the font: those of DejaVu Sans, which is wider
/// than the fonts that come before it, rounded up by kinds of letters.
static unsigned getWidth(llvm::StringRef character) {
  if (character.size() > 1) {
    int columns = llvm::sys::unicode::columnWidthUTF8(character);
    return columns == 2 ? 1050 : columns == 0 ? 0 : 1000;
  }
  char c = character.front();
  if (llvm::StringRef(" ijl.,:;|'!I").contains(c))
    return 405;
  if (llvm::StringRef("ftr()[]-/\\\"").contains(c))
    return 460;
  if (llvm::StringRef("mWM@%w").contains(c))
    return c == 'w' ? 820 : 1005;
  if (llvm::StringRef("+<>=#~^&").contains(c))
    return 840;
  if (llvm::isDigit(c) || llvm::isLower(c) || c == '_')
    return 640;
  return c == 'O' || c == 'Q' || c == 'D' || c == 'G' || c == 'H' || c == 'N'
             ? 790
             : 735;
}

double mlir::pol::measureText(llvm::StringRef text, double size) {
  double width = 0;
  while (!text.empty())
    width += getWidth(takeCharacter(text));
  return size * width / 1000;
}

std::string mlir::pol::fitText(llvm::StringRef text, double size, double width,
                               unsigned atLeast) {
  double used = 0, ellipsis = measureText("\u2026", size);
  size_t fitting = 0;
  unsigned letters = 0;
  for (llvm::StringRef rest = text; !rest.empty();) {
    used += measureText(takeCharacter(rest), size);
    if (used > width)
      break;
    if (rest.empty())
      return text.str();
    if (used + ellipsis > width)
      continue;
    fitting = text.size() - rest.size();
    ++letters;
  }
  if (letters < atLeast)
    return "";
  return (text.take_front(fitting).rtrim(' ') + "\u2026").str();
}

std::string SvgWriter::escape(llvm::StringRef printable) {
  std::string result;
  for (char c : printable) {
    switch (c) {
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '&':
      result += "&amp;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  }
  return result;
}

std::string SvgWriter::number(double value) {
  // Neither -0 nor what is none.
  if (!std::isfinite(value) || std::abs(value) < 0.005)
    return "0";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.2f", value);
  while (text.back() == '0')
    text.pop_back();
  if (text.back() == '.')
    text.pop_back();
  return text;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

void SvgWriter::open(llvm::StringRef element, llvm::StringRef className) {
  os << "<" << element;
  if (!className.empty())
    os << " class=\"" << className << "\"";
  os << ">";
}

void SvgWriter::close(llvm::StringRef element) {
  os << "</" << element << ">\n";
}

void SvgWriter::title(llvm::StringRef text) {
  os << "<title>" << escape(text) << "</title>";
}

void SvgWriter::rect(const Box &box, llvm::StringRef className) {
  os << "<rect";
  if (!className.empty())
    os << " class=\"" << className << "\"";
  os << " x=\"" << number(box.x) << "\" y=\"" << number(box.y) << "\" width=\""
     << number(box.width) << "\" height=\"" << number(box.height) << "\"/>";
}

void SvgWriter::line(double x1, double y1, double x2, double y2,
                     llvm::StringRef className) {
  os << "<line class=\"" << className << "\" x1=\"" << number(x1) << "\" y1=\""
     << number(y1) << "\" x2=\"" << number(x2) << "\" y2=\"" << number(y2)
     << "\"/>\n";
}

void SvgWriter::path(llvm::StringRef data, llvm::StringRef className) {
  os << "<path class=\"" << className << "\" d=\"" << data << "\"/>\n";
}

void SvgWriter::text(double x, double y, llvm::StringRef className,
                     llvm::StringRef text) {
  os << "<text class=\"" << className << "\" x=\"" << number(x) << "\" y=\""
     << number(y) << "\">" << escape(text) << "</text>\n";
}

void SvgWriter::verticalText(double x, double y, llvm::StringRef className,
                             llvm::StringRef text) {
  os << "<text class=\"" << className << "\" transform=\"translate("
     << number(x) << " " << number(y) << ") rotate(-90)\">" << escape(text)
     << "</text>\n";
}
