//===- TestSupport.h - What pol-run's unit tests share ----------*- C++ -*-===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef POL_TEST_UNIT_POLRUN_TESTSUPPORT_H
#define POL_TEST_UNIT_POLRUN_TESTSUPPORT_H

#include "Array.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "gtest/gtest.h"

#include <string>

namespace pol_run {

/// The text of an error, or "success".
inline std::string messageOf(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "success";
}
template <typename T> std::string messageOf(llvm::Expected<T> result) {
  return messageOf(result.takeError());
}

/// A result that a test relies on: ends the program where there is none.
template <typename T> T get(llvm::Expected<T> result) {
  return llvm::cantFail(std::move(result));
}

/// Whether an error's text is one short line of printable characters.
inline bool isOneLine(llvm::StringRef message) {
  return !message.empty() && message.size() < 400 &&
         llvm::all_of(message, llvm::isPrint);
}

} // namespace pol_run

#endif // POL_TEST_UNIT_POLRUN_TESTSUPPORT_H
