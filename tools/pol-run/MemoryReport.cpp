//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryReport.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace pol_run;

//===----------------------------------------------------------------------===//
// Observing
//===----------------------------------------------------------------------===//

void MemoryReport::watch(pol_space *space, std::string name) {
  Watched &entry = watched.emplace_back();
  entry.space = space;
  entry.name = std::move(name);
}

void MemoryReport::attach(llvm::ArrayRef<std::unique_ptr<HostSpace>> spaces) {
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
    pol_space_observe(entry.space, &MemoryReport::observe, this);
}

void MemoryReport::detach() {
  for (Watched &entry : watched)
    pol_space_observe(entry.space, nullptr, nullptr);
}

void MemoryReport::carve(Watched &watched, const pol_event &event) {
  auto [found, isNew] =
      index.try_emplace({event.site, event.bytes}, rows.size());
  if (isNew) {
    Row row;
    row.site = event.site;
    row.space = watched.name;
    row.bytes = event.bytes;
    row.offset = -1;
    if (watched.capacity >= 0)
      row.offset = static_cast<char *>(event.address) -
                   reinterpret_cast<pol_arena *>(watched.space)->base;
    row.begin = time;
    rows.push_back(std::move(row));
  }
  ++rows[found->second].count;
  rows[found->second].end = -1;
  watched.live.push_back({found->second, event.address, event.mark});
}

/// Ends the lives of all but the first `keep` buffers.
void MemoryReport::close(Watched &watched, size_t keep) {
  for (size_t i = keep; i < watched.live.size(); ++i)
    rows[watched.live[i].row].end = time;
  watched.live.resize(keep);
}

void MemoryReport::observe(void *user, pol_space *space,
                           const pol_event *event) {
  auto &report = *static_cast<MemoryReport *>(user);
  ++report.time;
  for (Watched &entry : report.watched) {
    if (entry.space != space)
      continue;
    switch (event->kind) {
    case POL_EVENT_CARVE:
      report.carve(entry, *event);
      break;
    case POL_EVENT_RELEASE: {
      auto found = llvm::find_if(llvm::reverse(entry.live), [&](Live &live) {
        return live.address == event->address;
      });
      if (found == entry.live.rend())
        break;
      report.rows[found->row].end = report.time;
      entry.live.erase(std::next(found).base());
      break;
    }
    case POL_EVENT_RETRACT: {
      size_t keep = entry.live.size();
      while (keep > 0 && entry.live[keep - 1].mark.offset >= event->mark.offset)
        --keep;
      report.close(entry, keep);
      break;
    }
    case POL_EVENT_RESET:
      report.close(entry, 0);
      break;
    }
  }
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static std::string orDash(llvm::StringRef text) {
  return text.empty() ? "-" : text.str();
}

namespace {
/// Cells in columns that are as wide as their widest.
class Table {
public:
  void add(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
  /// Columns from `firstNumber` to before `afterNumbers` are aligned right.
  void print(llvm::raw_ostream &os, size_t firstNumber,
             size_t afterNumbers) const {
    std::vector<size_t> widths(rows.front().size(), 0);
    for (const auto &row : rows)
      for (auto [width, cell] : llvm::zip_equal(widths, row))
        width = std::max(width, cell.size());
    for (const auto &row : rows) {
      for (size_t i = 0; i < row.size(); ++i) {
        os << "  ";
        if (i >= firstNumber && i < afterNumbers)
          os << llvm::right_justify(row[i], widths[i]);
        else if (i + 1 < row.size())
          os << llvm::left_justify(row[i], widths[i]);
        else
          os << row[i];
      }
      os << "\n";
    }
  }

private:
  std::vector<std::vector<std::string>> rows;
};
} // namespace

void MemoryReport::print(llvm::raw_ostream &os) const {
  os << "memory report\n";
  Table table;
  table.add({"buffer", "kernel", "role", "space", "bytes", "offset", "times",
             "lifetime"});
  for (const Row &row : rows)
    table.add({orDash(row.site->buffer), orDash(row.site->kernel),
               orDash(row.site->role), row.space, std::to_string(row.bytes),
               row.offset < 0 ? "-" : std::to_string(row.offset),
               std::to_string(row.count),
               std::to_string(row.begin) + ".." +
                   (row.end < 0 ? "end" : std::to_string(row.end))});
  int64_t stackBytes = 0;
  for (const StackBuffer &buffer : stack) {
    stackBytes += buffer.bytes;
    table.add({orDash(buffer.name), orDash(buffer.kernel), "scratch", "stack",
               std::to_string(buffer.bytes), "-", "-", "@" + buffer.function});
  }
  if (rows.empty() && stack.empty())
    os << "  (no buffers)\n";
  else
    table.print(os, /*firstNumber=*/4, /*afterNumbers=*/7);
  for (const Watched &entry : watched) {
    int64_t peak = pol_space_watermark(entry.space);
    bool used = llvm::any_of(
        rows, [&](const Row &row) { return row.space == entry.name; });
    if (!used && entry.name == "hidden heap")
      continue;
    os << "  peak of " << entry.name << ": " << peak << " bytes";
    if (entry.capacity >= 0)
      os << " of " << entry.capacity;
    os << "\n";
  }
  if (stackBytes)
    os << "  on the stack: " << stackBytes << " bytes\n";
}

void MemoryReport::printJson(llvm::raw_ostream &os) const {
  llvm::json::OStream json(os, /*IndentSize=*/2);
  auto attribute = [&](llvm::StringRef key, llvm::StringRef value) {
    json.attribute(key, llvm::json::fixUTF8(value));
  };
  json.object([&] {
    json.attributeArray("buffers", [&] {
      for (const Row &row : rows)
        json.object([&] {
          attribute("name", row.site->buffer);
          attribute("kernel", row.site->kernel);
          attribute("role", row.site->role);
          attribute("space", row.space);
          json.attribute("bytes", row.bytes);
          if (row.offset >= 0)
            json.attribute("offset", row.offset);
          json.attribute("times", row.count);
          json.attribute("begin", row.begin);
          if (row.end >= 0)
            json.attribute("end", row.end);
        });
      for (const StackBuffer &buffer : stack)
        json.object([&] {
          attribute("name", buffer.name);
          attribute("kernel", buffer.kernel);
          attribute("role", "scratch");
          attribute("space", "stack");
          json.attribute("bytes", buffer.bytes);
          attribute("function", buffer.function);
        });
    });
    json.attributeArray("spaces", [&] {
      for (const Watched &entry : watched)
        json.object([&] {
          attribute("name", entry.name);
          json.attribute("peak", pol_space_watermark(entry.space));
          if (entry.capacity >= 0)
            json.attribute("capacity", entry.capacity);
        });
    });
  });
  os << "\n";
}
