//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files of the runtime share and do not export: how a failure is
// recorded, and how addresses are aligned.
//
//===----------------------------------------------------------------------===//

#ifndef POL_LIB_RUNTIME_DETAIL_H
#define POL_LIB_RUNTIME_DETAIL_H

#include "pol/Runtime/Space.h"

#include <cstddef>
#include <cstdint>

#if defined(__GNUC__)
#define POL_PRINTF_METHOD __attribute__((format(printf, 2, 3)))
#define POL_PRINTF_FAIL __attribute__((format(printf, 4, 5)))
#else
#define POL_PRINTF_METHOD
#define POL_PRINTF_FAIL
#endif

namespace pol {
namespace runtime {

/// Writes into a buffer of fixed size: what does not fit is dropped, never in
/// the middle of a UTF-8 character, and the text is always terminated.
class Text {
public:
  Text(char *data, std::size_t size) : data(data), size(size) {
    data[0] = '\0';
  }

  void append(const char *format, ...) POL_PRINTF_METHOD;

private:
  char *data;
  std::size_t size; // at least 1
  std::size_t length = 0;
  bool full = false;
};

/// Starts this thread's record of a failure over. The caller fills in the
/// strings, which are empty.
pol_error &recordFailure(pol_status code, int64_t wanted, int64_t available);

/// Records a failure that has no source location. Returns code.
pol_status fail(pol_status code, int64_t wanted, int64_t available,
                const char *format, ...) POL_PRINTF_FAIL;

/// A retract to mark, which is stale in a space that now stands at current.
pol_status failStaleMark(const char *space, pol_mark mark, pol_mark current);

/// Failures recorded on this thread so far. Lets the caller of a space's
/// operation tell whether the operation itself said why it failed.
uint64_t failureCount();

/// What a mark is where none could be taken. Stale everywhere.
constexpr pol_mark noMark = {-1, -1};

inline bool isAlignment(int64_t alignment) {
  return alignment > 0 && (alignment & (alignment - 1)) == 0;
}

/// Rounds address up to a multiple of alignment; false if that overflows.
inline bool alignUp(uintptr_t address, int64_t alignment, uintptr_t &aligned) {
  uintptr_t mask = static_cast<uintptr_t>(alignment) - 1;
  if (address > UINTPTR_MAX - mask)
    return false;
  aligned = (address + mask) & ~mask;
  return true;
}

/// Where zero bytes lie when there is no memory: not null, and aligned.
inline void *zeroBytesAddress(int64_t alignment) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(alignment));
}

} // namespace runtime
} // namespace pol

#endif // POL_LIB_RUNTIME_DETAIL_H
