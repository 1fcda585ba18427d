//===- Message.h - How pol-run words its errors -----------------*- C++ -*-===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors of this layer are one line each and start in lower case. Text that
// came from outside (a file, the command line) goes through quoted(), so that
// no control character, newline or megabyte of garbage reaches a terminal.
//
//===----------------------------------------------------------------------===//

#ifndef POL_TOOLS_POL_RUN_MESSAGE_H
#define POL_TOOLS_POL_RUN_MESSAGE_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

#include <string>

namespace pol_run {

/// An error whose text is `message`.
inline llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// `text` in single quotes, bytes outside printable ASCII as \xNN, cut after
/// `limit` bytes.
inline std::string quoted(llvm::StringRef text, size_t limit = 64) {
  std::string result = "'";
  for (char c : text.take_front(limit)) {
    if (llvm::isPrint(c)) {
      result += c;
      continue;
    }
    unsigned byte = static_cast<unsigned char>(c);
    result += "\\x";
    result += llvm::hexdigit(byte >> 4, /*LowerCase=*/true);
    result += llvm::hexdigit(byte & 15, /*LowerCase=*/true);
  }
  result += text.size() > limit ? "...'" : "'";
  return result;
}

/// A path in quotes. Never cut: half a path helps nobody.
inline std::string quotedPath(llvm::StringRef path) {
  return quoted(path, llvm::StringRef::npos);
}

/// "1 input", "2 inputs".
inline std::string counted(size_t count, llvm::StringRef noun) {
  return llvm::formatv("{0} {1}{2}", count, noun, count == 1 ? "" : "s");
}

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_MESSAGE_H
