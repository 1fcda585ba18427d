//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Targets: what is told of them, and where modules carry them.

#include "pol/IR/Target.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include <map>
#include <optional>
#include <unistd.h>

using namespace mlir;
using namespace mlir::pol;

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t vectorBits, int64_t vectorRegisters,
                                 int64_t l1Bytes, int64_t l2Bytes,
                                 int64_t llcBytes, int64_t maxWorkers, bool,
                                 int64_t rowGroup) {
  auto verifyPower = [&](StringRef name, int64_t value, int64_t least,
                         int64_t most) -> LogicalResult {
    if (llvm::isPowerOf2_64(value) && value >= least && value <= most)
      return success();
    return emitError() << "expected " << name << " to be a power of two, "
                       << least << " to " << most << ", but got " << value;
  };
  auto verifyRange = [&](StringRef name, int64_t value, int64_t least,
                         int64_t most) -> LogicalResult {
    if (value >= least && value <= most)
      return success();
    return emitError() << "expected " << name << " to be " << least << " to "
                       << most << ", but got " << value;
  };
  constexpr int64_t mostBytes = int64_t(1) << 40;
  return failure(
      failed(verifyPower("vector_bits", vectorBits, 128, 2048)) ||
      failed(verifyRange("vector_registers", vectorRegisters, 8, 256)) ||
      failed(verifyRange("l1_bytes", l1Bytes, 4096, mostBytes)) ||
      failed(verifyRange("l2_bytes", l2Bytes, l1Bytes, mostBytes)) ||
      failed(verifyRange("llc_bytes", llcBytes, l2Bytes, mostBytes)) ||
      failed(verifyRange("max_workers", maxWorkers, 1, 65536)) ||
      failed(verifyPower("row_group", rowGroup, 1, 8)));
}

//===----------------------------------------------------------------------===//
// Named targets, and the host
//===----------------------------------------------------------------------===//

static constexpr int64_t kKiB = 1024;
static constexpr int64_t kMiB = 1024 * kKiB;
/// Of targets whose machine is not known.
static constexpr int64_t kDefaultWorkers = 8;
/// Of processors that follow many streams of rows.
static constexpr int64_t kRowGroup = 4;

namespace {
struct NamedTarget {
  StringRef name;
  int64_t vectorBits, vectorRegisters;
  bool f16;
};
} // namespace

static constexpr NamedTarget kTargets[] = {{"x86-64-v2", 128, 16, false},
                                           {"x86-64-v3", 256, 16, true},
                                           {"x86-64-v4", 512, 32, true},
                                           {"neon", 128, 32, true}};

ArrayRef<StringRef> mlir::pol::getTargetNames() {
  static const SmallVector<StringRef> names = llvm::map_to_vector(
      kTargets, [](const NamedTarget &target) { return target.name; });
  return names;
}

TargetAttr mlir::pol::getNamedTarget(MLIRContext *context, StringRef name) {
  for (const NamedTarget &target : kTargets)
    if (target.name == name)
      return TargetAttr::get(context, target.vectorBits, target.vectorRegisters,
                             32 * kKiB, kMiB, 32 * kMiB, kDefaultWorkers,
                             target.f16, kRowGroup);
  return {};
}

/// The level of x86-64 that a processor reaches, or that it is no such.
static StringRef getHostLevel() {
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  if (triple.isAArch64())
    return "neon";
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  auto has = [&](std::initializer_list<StringRef> names) {
    return llvm::all_of(names,
                        [&](StringRef name) { return features.lookup(name); });
  };
  if (!has({"avx2", "fma", "f16c"}))
    return "x86-64-v2";
  return has({"avx512f", "avx512bw", "avx512dq", "avx512vl"}) ? "x86-64-v4"
                                                              : "x86-64-v3";
}

/// What was measured: docs/Performance.md.
static int64_t getHostRowGroup() {
  return llvm::sys::getHostCPUName().starts_with("znver") ? 1 : kRowGroup;
}

namespace {
/// The caches of data that Linux tells of. The C library may take what all
/// processors of a package share for what a guest's few do.
struct HostCaches {
  std::map<int64_t, int64_t> bytesOfLevel;

  HostCaches() {
    for (int index = 0;; ++index) {
      std::string folder =
          llvm::formatv("/sys/devices/system/cpu/cpu0/cache/index{0}/", index);
      std::optional<std::string> type = read(folder + "type");
      if (!type)
        return;
      int64_t level, kibibytes;
      if (*type != "Instruction" && readNumber(folder + "level", level) &&
          readNumber(folder + "size", kibibytes))
        bytesOfLevel[level] = kibibytes * kKiB;
    }
  }

  /// Of a level, or what the library says: a machine need not say what it has.
  int64_t get(int64_t level, int name, int64_t otherwise) const {
    auto found = bytesOfLevel.find(level);
    int64_t bytes =
        found == bytesOfLevel.end() ? ::sysconf(name) : found->second;
    return bytes > 0 ? bytes : otherwise;
  }

private:
  static std::optional<std::string> read(const Twine &path) {
    auto file = llvm::MemoryBuffer::getFileAsStream(path);
    if (!file)
      return std::nullopt;
    return (*file)->getBuffer().trim().str();
  }
  /// A number, which may be one of KiB: 32K.
  static bool readNumber(const Twine &path, int64_t &number) {
    std::optional<std::string> text = read(path);
    return text && !StringRef(*text).rtrim('K').getAsInteger(10, number);
  }
};
} // namespace

TargetAttr mlir::pol::getHostTarget(MLIRContext *context, int64_t maxWorkers) {
  TargetAttr named = getNamedTarget(context, getHostLevel());
  HostCaches caches;
  int64_t l1 = std::max(
      caches.get(1, _SC_LEVEL1_DCACHE_SIZE, named.getL1Bytes()), 4 * kKiB);
  int64_t l2 =
      std::max(caches.get(2, _SC_LEVEL2_CACHE_SIZE, named.getL2Bytes()), l1);
  int64_t llc =
      std::max(caches.get(3, _SC_LEVEL3_CACHE_SIZE, named.getLlcBytes()), l2);
  return TargetAttr::get(context, named.getVectorBits(),
                         named.getVectorRegisters(), l1, l2, llc, maxWorkers,
                         named.getF16(), getHostRowGroup());
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kDevice = "CPU";
static constexpr StringLiteral kEntry = "pol.target";

/// The specification of a module's devices, if there is one.
static TargetSystemSpecAttr getSystem(Operation *op) {
  while (op->getParentOp())
    op = op->getParentOp();
  return op->getAttrOfType<TargetSystemSpecAttr>(
      DLTIDialect::kTargetSystemDescAttrName);
}

Attribute mlir::pol::lookupTargetEntry(Operation *op) {
  MLIRContext *context = op->getContext();
  TargetSystemSpecAttr system = getSystem(op);
  if (!system)
    return {};
  auto device =
      system.getDeviceSpecForDeviceID(StringAttr::get(context, kDevice));
  if (!device)
    return {};
  DataLayoutEntryInterface entry =
      device->getSpecForIdentifier(StringAttr::get(context, kEntry));
  return entry ? entry.getValue() : Attribute();
}

TargetAttr mlir::pol::lookupTarget(Operation *op) {
  return dyn_cast_or_null<TargetAttr>(lookupTargetEntry(op));
}

TargetAttr mlir::pol::getTarget(Operation *op) {
  if (TargetAttr target = lookupTarget(op))
    return target;
  return getNamedTarget(op->getContext(), "x86-64-v3");
}

void mlir::pol::setTarget(Operation *module, TargetAttr target) {
  MLIRContext *context = module->getContext();
  auto device = StringAttr::get(context, kDevice);
  auto key = StringAttr::get(context, kEntry);
  SmallVector<DataLayoutEntryInterface> properties;
  if (target)
    properties.push_back(DataLayoutEntryAttr::get(key, target));
  SmallVector<DataLayoutEntryInterface> devices;
  if (TargetSystemSpecAttr system = getSystem(module))
    for (DataLayoutEntryInterface other : system.getEntries()) {
      if (other.getKey() != DataLayoutEntryKey(device)) {
        devices.push_back(other);
        continue;
      }
      auto spec = dyn_cast<TargetDeviceSpecInterface>(other.getValue());
      if (!spec)
        continue;
      for (DataLayoutEntryInterface property : spec.getEntries())
        if (property.getKey() != DataLayoutEntryKey(key))
          properties.push_back(property);
    }
  if (!properties.empty())
    devices.push_back(DataLayoutEntryAttr::get(
        device, TargetDeviceSpecAttr::get(context, properties)));
  if (devices.empty()) {
    module->removeAttr(DLTIDialect::kTargetSystemDescAttrName);
    return;
  }
  module->setAttr(DLTIDialect::kTargetSystemDescAttrName,
                  TargetSystemSpecAttr::get(context, devices));
}
