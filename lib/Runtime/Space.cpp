//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Runtime/Space.h"
#include "Detail.h"

#include <cinttypes>
#include <cstring>

using namespace pol::runtime;

/// Names in sites may be empty or, from hand-written callers, null.
static const char *orEmpty(const char *name) { return name ? name : ""; }

/// "buffer 'y' of kernel 'softmax' (16x64xf32)", shorter where names are empty.
static void describe(Text &out, const pol_site *site, int64_t rank,
                     const int64_t *dims) {
  const char *buffer = site ? orEmpty(site->buffer) : "";
  const char *kernel = site ? orEmpty(site->kernel) : "";
  const char *type = site ? orEmpty(site->type) : "";
  if (site && !std::strcmp(orEmpty(site->role), "slab")) {
    out.append("all that function '%s' allocates", kernel);
    return;
  }
  if (buffer[0])
    out.append("buffer '%s'", buffer);
  else
    out.append("allocation");
  if (kernel[0])
    out.append(" of kernel '%s'", kernel);
  bool hasShape = rank > 0 && dims;
  if (!hasShape && !type[0])
    return;
  const char *separator = "";
  out.append(" (");
  for (int64_t i = 0; hasShape && i < rank; ++i) {
    out.append("%s%" PRId64, separator, dims[i]);
    separator = "x";
  }
  if (type[0])
    out.append("%s%s", separator, type);
  out.append(")");
}

/// "file.mlir:12:8".
static void describeLocation(Text &out, const pol_site *site) {
  if (!site || !orEmpty(site->file)[0])
    return;
  out.append("%s", site->file);
  if (site->line > 0)
    out.append(":%" PRId32 ":%" PRId32, site->line, site->column);
}

namespace {
/// One call of pol_carve, for its error messages.
struct Request {
  const pol_site *site;
  int64_t rank;
  const int64_t *dims;

  /// Records a failure; problem follows the description of the buffer.
  void *fail(pol_status code, int64_t wanted, int64_t available,
             const char *problem = "") const {
    pol_error &error = recordFailure(code, wanted, available);
    Text what(error.what, sizeof(error.what));
    describe(what, site, rank, dims);
    what.append("%s", problem);
    Text location(error.location, sizeof(error.location));
    describeLocation(location, site);
    return nullptr;
  }

  /// The size in bytes; false if an extent is negative or it overflows.
  bool computeBytes(int64_t &bytes) const {
    // All extents are looked at first: a zero makes the size zero whatever the
    // others are, unless one of them is negative.
    bool isEmpty = site->element_bytes == 0;
    if (site->element_bytes < 0)
      return false;
    for (int64_t i = 0; i < rank; ++i) {
      if (dims[i] < 0)
        return false;
      isEmpty |= dims[i] == 0;
    }
    bytes = isEmpty ? 0 : site->element_bytes;
    for (int64_t i = 0; !isEmpty && i < rank; ++i) {
      if (bytes > INT64_MAX / dims[i])
        return false;
      bytes *= dims[i];
    }
    return true;
  }
};
} // namespace

/// True if the space can be used; records a failure if it cannot.
static bool checkSpace(pol_space *space, const char *action) {
  if (space && space->ops)
    return true;
  fail(POL_INVALID_ARGUMENT, -1, -1, "%s of a null space", action);
  return false;
}

static void failUnsupported(pol_space *space, const char *action) {
  fail(POL_INVALID_ARGUMENT, -1, -1,
       "%s of space '%s', which has no such operation", action,
       orEmpty(space->ops->name));
}

static void notify(pol_space *space, const pol_event &event) {
  if (space->observer)
    space->observer(space->observer_user, space, &event);
}

void pol_space_observe(pol_space *space, pol_observer observer, void *user) {
  if (!space) {
    fail(POL_INVALID_ARGUMENT, -1, -1, "observation of a null space");
    return;
  }
  space->observer = observer;
  space->observer_user = user;
}

/// Calls the space's carve and, if that fails, says for which buffer. Keeps
/// the figures of a space that recorded its failure itself: it alone knows
/// what alignment cost.
static void *carveFrom(pol_space *space, const Request &request,
                       int64_t bytes) {
  uint64_t before = failureCount();
  if (void *address = space->ops->carve(space, bytes, request.site->alignment))
    return address;
  pol_status code = POL_OUT_OF_MEMORY;
  int64_t available = -1;
  if (failureCount() != before) {
    code = static_cast<pol_status>(pol_last_error()->code);
    available = pol_last_error()->available;
  } else if (space->ops->available) {
    available = space->ops->available(space);
  }
  return request.fail(code, bytes, available);
}

void *pol_carve(pol_space *space, const pol_site *site, int64_t rank,
                const int64_t *dims) {
  Request request = {site, rank, dims};
  if (!space || !space->ops || !space->ops->carve)
    return request.fail(POL_INVALID_ARGUMENT, -1, -1, " has a null space");
  if (!site)
    return request.fail(POL_INVALID_ARGUMENT, -1, -1, " has a null site");
  if (rank < 0 || (rank > 0 && !dims))
    return request.fail(POL_INVALID_ARGUMENT, -1, -1, " has no shape");
  if (site->alignment != 0 && !isAlignment(site->alignment))
    return request.fail(POL_INVALID_ARGUMENT, -1, -1,
                        " has an alignment that is no power of two");
  int64_t bytes = 0;
  if (!request.computeBytes(bytes))
    return request.fail(POL_INVALID_SIZE, -1, -1);

  if (!space->observer)
    return carveFrom(space, request, bytes);
  pol_mark mark = space->ops->mark ? space->ops->mark(space) : noMark;
  void *address = carveFrom(space, request, bytes);
  if (address)
    notify(space, {POL_EVENT_CARVE, site, address, bytes, mark});
  return address;
}

pol_mark pol_space_mark(pol_space *space) {
  if (!checkSpace(space, "mark"))
    return noMark;
  if (space->ops->mark)
    return space->ops->mark(space);
  failUnsupported(space, "mark");
  return noMark;
}

int32_t pol_space_retract(pol_space *space, int64_t offset, int64_t epoch) {
  if (!checkSpace(space, "retract"))
    return 0;
  if (!space->ops->retract) {
    failUnsupported(space, "retract");
    return 0;
  }
  pol_mark mark = {offset, epoch};
  uint64_t before = failureCount();
  pol_status status = space->ops->retract(space, mark);
  if (status != POL_OK) {
    if (failureCount() == before)
      fail(status, -1, -1,
           "retract to offset %" PRId64 " of epoch %" PRId64 " in space '%s'",
           offset, epoch, orEmpty(space->ops->name));
    return 0;
  }
  notify(space, {POL_EVENT_RETRACT, nullptr, nullptr, 0, mark});
  return 1;
}

void pol_space_release(pol_space *space, void *address) {
  if (!checkSpace(space, "release") || !address || !space->ops->release)
    return;
  space->ops->release(space, address);
  notify(space, {POL_EVENT_RELEASE, nullptr, address, 0, noMark});
}

void pol_space_trim(pol_space *space, void *address, int64_t bytes) {
  if (!checkSpace(space, "trim") || !address || !space->ops->trim)
    return;
  space->ops->trim(space, address, bytes);
}

void pol_space_reset(pol_space *space) {
  if (!checkSpace(space, "reset"))
    return;
  if (!space->ops->reset) {
    failUnsupported(space, "reset");
    return;
  }
  space->ops->reset(space);
  notify(space, {POL_EVENT_RESET, nullptr, nullptr, 0, noMark});
}

int64_t pol_space_watermark(pol_space *space) {
  if (!checkSpace(space, "watermark"))
    return -1;
  if (space->ops->watermark)
    return space->ops->watermark(space);
  failUnsupported(space, "watermark");
  return -1;
}
