//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceObserver.h"

using namespace pol_run;
using namespace mlir::pol;

/// The times of a row that are kept one by one. Of a row of more only the first
/// and the last moment are known: a loop may go on for long.
static constexpr int64_t maxLives = 1000;

void SpaceObserver::watch(pol_space *space, std::string name) {
  Watched &entry = watched.emplace_back();
  entry.space = space;
  entry.name = std::move(name);
}

void SpaceObserver::attach(llvm::ArrayRef<std::unique_ptr<HostSpace>> spaces) {
  for (auto [number, space] : llvm::enumerate(spaces)) {
    std::string name = space->isArena() ? "arena" : "heap";
    if (spaces.size() > 1)
      name += std::to_string(number);
    watch(space->get(), name);
    if (space->isArena())
      watched.back().capacity =
          reinterpret_cast<pol_arena *>(space->get())->capacity;
  }
  watch(pol_thread_heap(), "hidden heap");
  for (Watched &entry : watched)
    pol_space_observe(entry.space, &SpaceObserver::observe, this);
}

void SpaceObserver::detach() {
  for (Watched &entry : watched)
    pol_space_observe(entry.space, nullptr, nullptr);
}

static ReportedBuffer makeRow(const pol_event &event) {
  const pol_site &site = *event.site;
  ReportedBuffer row;
  row.name = site.buffer;
  row.kernel = site.kernel;
  row.role = site.role;
  if (site.file[0] != 0)
    row.location = std::string(site.file) + ":" + std::to_string(site.line) +
                   ":" + std::to_string(site.column);
  row.bytes = event.bytes;
  row.times = 0;
  return row;
}

void SpaceObserver::carve(Watched &watched, const pol_event &event) {
  auto [found, isNew] =
      watched.index.try_emplace({event.site, event.bytes}, watched.rows.size());
  if (isNew)
    watched.rows.push_back(makeRow(event));
  ReportedBuffer &row = watched.rows[found->second];
  ReportedLife life;
  life.begin = time;
  if (watched.capacity >= 0)
    life.offset = static_cast<char *>(event.address) -
                  reinterpret_cast<pol_arena *>(watched.space)->base;
  if (isNew) {
    row.offset = life.offset;
    row.begin = time;
  }
  row.end = -1;
  watched.live.push_back({found->second, static_cast<size_t>(row.times),
                          event.address, event.mark});
  ++row.times;
  if (row.times <= maxLives)
    row.lives.push_back(life);
  else
    row.lives.clear();
  watched.inUse += event.bytes;
  watched.mostInUse = std::max(watched.mostInUse, watched.inUse);
}

void SpaceObserver::end(Watched &watched, const Live &live) {
  ReportedBuffer &row = watched.rows[live.row];
  row.end = time;
  if (live.number < row.lives.size())
    row.lives[live.number].end = time;
  watched.inUse -= row.bytes;
}

void SpaceObserver::release(Watched &watched, const pol_event &event) {
  auto found = llvm::find_if(llvm::reverse(watched.live), [&](Live &live) {
    return live.address == event.address;
  });
  if (found == watched.live.rend())
    return;
  end(watched, *found);
  watched.live.erase(std::next(found).base());
}

/// Ends the lives of all but the first `keep` buffers.
void SpaceObserver::close(Watched &watched, size_t keep) {
  for (size_t i = keep; i < watched.live.size(); ++i)
    end(watched, watched.live[i]);
  watched.live.resize(keep);
}

void SpaceObserver::observe(void *user, pol_space *space,
                            const pol_event *event) {
  auto &observer = *static_cast<SpaceObserver *>(user);
  ++observer.time;
  for (Watched &entry : observer.watched) {
    if (entry.space != space)
      continue;
    switch (event->kind) {
    case POL_EVENT_CARVE:
      observer.carve(entry, *event);
      break;
    case POL_EVENT_RELEASE:
      observer.release(entry, *event);
      break;
    case POL_EVENT_RETRACT: {
      size_t keep = entry.live.size();
      while (keep > 0 && entry.live[keep - 1].mark.offset >= event->mark.offset)
        --keep;
      observer.close(entry, keep);
      break;
    }
    case POL_EVENT_RESET:
      observer.close(entry, 0);
      break;
    }
  }
}

std::vector<ReportedSpace> SpaceObserver::getSpaces() const {
  std::vector<ReportedSpace> spaces;
  for (const Watched &entry : watched) {
    if (entry.rows.empty() && entry.space == watched.back().space)
      continue;
    ReportedSpace &space = spaces.emplace_back();
    space.name = entry.name;
    space.clock = "event";
    space.mode = entry.capacity >= 0 ? "carved" : "heap";
    space.capacity = entry.capacity;
    space.peak = pol_space_watermark(entry.space);
    space.lowerBound = entry.mostInUse;
    space.steps = time;
    space.buffers = entry.rows;
    // One that is still there, though another of the same row ended after it.
    for (const Live &live : entry.live)
      space.buffers[live.row].end = -1;
    for (ReportedBuffer &buffer : space.buffers)
      if (buffer.times == 1)
        buffer.lives.clear();
  }
  return spaces;
}

ReportedSpace pol_run::reportStack(llvm::ArrayRef<StackBuffer> buffers) {
  ReportedSpace space;
  space.name = space.mode = "stack";
  for (const StackBuffer &buffer : buffers) {
    ReportedBuffer &row = space.buffers.emplace_back();
    row.name = buffer.name;
    row.kernel = buffer.kernel;
    row.role = "scratch";
    row.function = buffer.function;
    row.bytes = buffer.bytes;
  }
  return space;
}
