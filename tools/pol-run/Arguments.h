//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Arrays, spaces and scalars in the form that an entry point takes.

#ifndef POL_TOOLS_POL_RUN_ARGUMENTS_H
#define POL_TOOLS_POL_RUN_ARGUMENTS_H

#include "Array.h"
#include "mlir/IR/BuiltinTypes.h"
#include "pol/Runtime/Arena.h"
#include "pol/Runtime/Heap.h"
#include <memory>
#include <variant>

namespace pol_run {

/// Where the space arguments of the entry point come from.
struct SpaceSpec {
  /// Bytes of an arena; no value for a heap.
  std::optional<int64_t> arenaBytes;
  /// Whether it is an arena of just the bytes that are needed. What is not
  /// carved from, and so has no such number, is a heap then.
  bool isExact = false;
};

/// Parses `heap` or `arena:BYTES`; BYTES may end in K, M or G.
llvm::Expected<SpaceSpec> parseSpace(llvm::StringRef text);

/// A space of the tool's: an arena over memory of its own, or a heap.
class HostSpace {
public:
  static llvm::Expected<std::unique_ptr<HostSpace>> create(SpaceSpec spec);
  ~HostSpace();

  pol_space *get();
  bool isArena() const { return std::holds_alternative<pol_arena>(space); }
  /// Everything carved is garbage afterwards.
  void reset() { pol_space_reset(get()); }

private:
  HostSpace() = default;

  std::optional<Array> slab;
  std::variant<std::monostate, pol_arena, pol_heap> space;
};

/// The values that one call needs, and room for what it returns.
class Arguments {
public:
  /// Says how many bytes an argument needs that is a space carved from, given
  /// the parameters.
  using Footprints =
      llvm::function_ref<llvm::Expected<llvm::DenseMap<unsigned, int64_t>>(
          llvm::ArrayRef<int64_t>)>;

  /// Fits arrays to the entry's type. Arrays are taken in order by the
  /// arguments that are no spaces.
  static llvm::Expected<Arguments> bind(mlir::FunctionType type,
                                        std::vector<Array> inputs,
                                        SpaceSpec spaces,
                                        Footprints footprints);

  /// Which of the spaces an argument is.
  size_t getSpaceNumber(unsigned argument) const;

  /// What sizes in the entry are functions of: dynamic extents of memrefs and
  /// `index` arguments, in order.
  llvm::SmallVector<int64_t> getSizeParameters() const;

  /// Pointers to all values in the order of the C entry point.
  llvm::SmallVector<void *> pack();
  int32_t getStatus() const { return status; }
  const pol_error &getError() const { return *error; }
  llvm::ArrayRef<std::unique_ptr<HostSpace>> getSpaces() const {
    return spaces;
  }

  /// Copies a result out of the memory it lies in.
  llvm::Expected<Array> getResult(unsigned index) const;

private:
  llvm::Error bindInputs();
  llvm::Error bindSpaces(SpaceSpec spec, Footprints footprints);

  mlir::FunctionType type;
  std::vector<Array> inputs;
  std::vector<std::unique_ptr<HostSpace>> spaces;
  /// A memref descriptor in words, or a scalar in the first of them.
  using Words = llvm::SmallVector<int64_t, 9>;
  std::vector<Words> arguments, results;
  std::vector<void *> pointers;
  std::unique_ptr<pol_error> error = std::make_unique<pol_error>();
  void *errorPointer = nullptr;
  int32_t status = 0;
};

} // namespace pol_run

#endif // POL_TOOLS_POL_RUN_ARGUMENTS_H
