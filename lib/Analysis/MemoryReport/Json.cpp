//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Analysis/MemoryReport.h"

#include "llvm/Support/JSON.h"

using namespace mlir::pol;

namespace {
/// Writes members of objects; those that are not known are left out.
class Writer {
public:
  explicit Writer(llvm::raw_ostream &os) : json(os, /*IndentSize=*/2) {}

  void write(const MemoryReport &report);

private:
  void text(llvm::StringRef key, llvm::StringRef value) {
    json.attribute(key, llvm::json::fixUTF8(value));
  }
  void textIfAny(llvm::StringRef key, llvm::StringRef value) {
    if (!value.empty())
      text(key, value);
  }
  void numberIfKnown(llvm::StringRef key, int64_t value) {
    if (value >= 0)
      json.attribute(key, value);
  }
  void write(const ReportedSpace &space, const ReportedBuffer &buffer);
  void write(const ReportedSpace &space);

  llvm::json::OStream json;
};
} // namespace

void Writer::write(const ReportedSpace &space, const ReportedBuffer &buffer) {
  text("name", buffer.name);
  text("kernel", buffer.kernel);
  text("role", buffer.role);
  text("space", space.name);
  json.attribute("bytes", buffer.bytes);
  numberIfKnown("offset", buffer.offset);
  json.attribute("times", buffer.times);
  if (!space.clock.empty()) {
    json.attribute("begin", buffer.begin);
    numberIfKnown("end", buffer.end);
  }
  if (buffer.keptFrom >= 0 && buffer.keptBytes >= 0) {
    json.attribute("kept_from", buffer.keptFrom);
    json.attribute("kept_bytes", buffer.keptBytes);
  }
  if (!buffer.lives.empty())
    json.attributeArray("lives", [&] {
      for (const ReportedLife &life : buffer.lives)
        json.object([&] {
          numberIfKnown("offset", life.offset);
          json.attribute("begin", life.begin);
          numberIfKnown("end", life.end);
        });
    });
  textIfAny("function", buffer.function);
  textIfAny("location", buffer.location);
}

void Writer::write(const ReportedSpace &space) {
  text("name", space.name);
  text("mode", space.mode);
  textIfAny("clock", space.clock);
  numberIfKnown("steps", space.steps);
  numberIfKnown("capacity", space.capacity);
  numberIfKnown("peak", space.peak);
  numberIfKnown("bump", space.bump);
  numberIfKnown("lower_bound", space.lowerBound);
}

void Writer::write(const MemoryReport &report) {
  json.object([&] {
    textIfAny("entry", report.entry);
    json.attributeArray("buffers", [&] {
      for (const ReportedSpace &space : report.spaces)
        for (const ReportedBuffer &buffer : space.buffers)
          json.object([&] { write(space, buffer); });
    });
    json.attributeArray("spaces", [&] {
      for (const ReportedSpace &space : report.spaces)
        json.object([&] { write(space); });
    });
  });
}

void mlir::pol::printJson(llvm::raw_ostream &os, const MemoryReport &report) {
  Writer(os).write(report);
  os << "\n";
}
