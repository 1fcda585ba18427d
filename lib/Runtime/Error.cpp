//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Runtime/Error.h"
#include "Detail.h"

#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

using namespace pol::runtime;

// Both are zero-initialized and need no destructor, so that a failure can be
// recorded at any point of a thread's life.
static thread_local pol_error lastError;
static thread_local uint64_t failures;

/// Cuts off a UTF-8 character of which only the first bytes are there.
static void dropPartialCharacter(char *text, std::size_t length) {
  std::size_t end = length;
  while (end > 0 && length - end < 3 && (text[end - 1] & 0xC0) == 0x80)
    --end;
  if (end == 0)
    return;
  unsigned char lead = static_cast<unsigned char>(text[end - 1]);
  std::size_t bytes = lead >= 0xF0   ? 4
                      : lead >= 0xE0 ? 3
                      : lead >= 0xC0 ? 2
                                     : 1;
  if (length - (end - 1) < bytes)
    text[end - 1] = '\0';
}

void Text::append(const char *format, ...) {
  if (full)
    return;
  std::size_t room = size - length;
  va_list arguments;
  va_start(arguments, format);
  int written = std::vsnprintf(data + length, room, format, arguments);
  va_end(arguments);
  if (written < 0)
    return;
  if (static_cast<std::size_t>(written) < room) {
    length += static_cast<std::size_t>(written);
    return;
  }
  full = true;
  dropPartialCharacter(data, size - 1);
}

pol_error &pol::runtime::recordFailure(pol_status code, int64_t wanted,
                                       int64_t available) {
  ++failures;
  lastError.code = code;
  lastError.wanted = wanted;
  lastError.available = available;
  lastError.what[0] = '\0';
  lastError.location[0] = '\0';
  return lastError;
}

pol_status pol::runtime::fail(pol_status code, int64_t wanted,
                              int64_t available, const char *format, ...) {
  pol_error &error = recordFailure(code, wanted, available);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(error.what, sizeof(error.what), format, arguments);
  va_end(arguments);
  return code;
}

pol_status pol::runtime::failStaleMark(const char *space, pol_mark mark,
                                       pol_mark current) {
  return fail(POL_STALE_MARK, -1, -1,
              "retract to offset %" PRId64 " of epoch %" PRId64
              ", but the %s is at offset %" PRId64 " of epoch %" PRId64,
              mark.offset, mark.epoch, space, current.offset, current.epoch);
}

uint64_t pol::runtime::failureCount() { return failures; }

static const char *orEmpty(const char *text) { return text ? text : ""; }

/// What stands between what was compared and the number it should have been.
static const char *describeRelation(int32_t relation) {
  switch (relation) {
  case POL_AT_MOST:
    return " to be at most";
  case POL_AT_LEAST:
    return " to be at least";
  case POL_MULTIPLE_OF:
    return " to be a multiple of";
  default:
    return " to be";
  }
}

void pol_report_mismatch(const pol_check_site *site, int64_t got,
                         int64_t wanted) {
  static const pol_check_site unknown = {"", "", "", 0, 0, POL_EQUAL};
  if (!site)
    site = &unknown;
  pol_error &error = recordFailure(POL_SHAPE_MISMATCH, wanted, got);
  const char *relation = describeRelation(site->relation);
  // However long names are, the relation stays.
  Text what(error.what, sizeof(error.what) - std::strlen(relation));
  what.append("%s", orEmpty(site->what)[0] ? site->what : "an extent");
  if (orEmpty(site->kernel)[0])
    what.append(" of kernel '%s'", site->kernel);
  std::strcat(error.what, relation);
  Text location(error.location, sizeof(error.location));
  if (!orEmpty(site->file)[0])
    return;
  location.append("%s", site->file);
  if (site->line > 0)
    location.append(":%" PRId32 ":%" PRId32, site->line, site->column);
}

const pol_error *pol_last_error(void) { return &lastError; }

int32_t pol_copy_last_error(pol_error *error) {
  if (error)
    *error = lastError;
  return lastError.code;
}

static void formatOutOfMemory(Text &out, const pol_error &error,
                              const char *what) {
  out.append("out of memory: %s wants %" PRId64 " byte%s, but ", what,
             error.wanted, error.wanted == 1 ? "" : "s");
  if (error.available < 0)
    out.append("its space has no room");
  else
    out.append("%" PRId64 " %s available", error.available,
               error.available == 1 ? "is" : "are");
}

const char *pol_format_error(const pol_error *error, char *text, int64_t size) {
  if (!text || size <= 0)
    return "";
  Text out(text, static_cast<std::size_t>(size));
  if (!error || error->code == POL_OK) {
    out.append("no error");
    return text;
  }
  const char *what = error->what[0] ? error->what : "allocation";
  switch (error->code) {
  case POL_OUT_OF_MEMORY:
    formatOutOfMemory(out, *error, what);
    break;
  case POL_INVALID_SIZE:
    out.append("invalid size: %s is negative or exceeds 64 bits", what);
    break;
  case POL_STALE_MARK:
    out.append("stale mark: %s", what);
    break;
  case POL_INVALID_ARGUMENT:
    out.append("invalid argument: %s", what);
    break;
  case POL_SHAPE_MISMATCH:
    out.append("shape mismatch: expected %s %" PRId64 ", but got %" PRId64,
               error->what[0] ? error->what : "an extent to be", error->wanted,
               error->available);
    break;
  default:
    out.append("unknown status %" PRId32 ": %s", error->code, what);
    break;
  }
  if (error->location[0])
    out.append(", at %s", error->location);
  // Names and paths may hold anything; the text is one line all the same.
  for (char *c = text; *c; ++c)
    if (static_cast<unsigned char>(*c) < 0x20 || *c == 0x7F)
      *c = ' ';
  return text;
}
