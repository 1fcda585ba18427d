//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "InputSpec.h"
#include "Message.h"
#include "pol/IR/PolTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pol_run;

//===----------------------------------------------------------------------===//
// Spaces
//===----------------------------------------------------------------------===//

llvm::Expected<SpaceSpec> pol_run::parseSpace(llvm::StringRef text) {
  if (text == "heap")
    return SpaceSpec();
  if (text == "arena")
    return SpaceSpec{std::nullopt, /*isExact=*/true};
  llvm::StringRef digits = text;
  int64_t bytes = 0;
  int64_t unit = 1;
  if (digits.consume_front("arena:")) {
    if (digits.consume_back("K"))
      unit = int64_t(1) << 10;
    else if (digits.consume_back("M"))
      unit = int64_t(1) << 20;
    else if (digits.consume_back("G"))
      unit = int64_t(1) << 30;
    if (!digits.getAsInteger(10, bytes) && bytes >= 0 &&
        !llvm::MulOverflow(bytes, unit, bytes))
      return SpaceSpec{bytes};
  }
  return makeError(
      "expected --space to be heap, arena or arena:BYTES, but got " +
      quoted(text));
}

llvm::Expected<std::unique_ptr<HostSpace>> HostSpace::create(SpaceSpec spec) {
  std::unique_ptr<HostSpace> host(new HostSpace());
  if (!spec.arenaBytes) {
    pol_heap_init(&host->space.emplace<pol_heap>(), /*limit=*/-1);
    return host;
  }
  llvm::Expected<Array> slab = Array::create(DType::I8, *spec.arenaBytes);
  if (!slab)
    return slab.takeError();
  host->slab.emplace(std::move(*slab));
  pol_arena_init(&host->space.emplace<pol_arena>(), host->slab->data(),
                 *spec.arenaBytes, /*alignment=*/0);
  return host;
}

HostSpace::~HostSpace() {
  if (auto *heap = std::get_if<pol_heap>(&space))
    pol_heap_destroy(heap);
}

pol_space *HostSpace::get() {
  if (auto *arena = std::get_if<pol_arena>(&space))
    return &arena->space;
  return &std::get<pol_heap>(space).space;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static std::optional<DType> getDType(Type type) {
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isF32())
    return DType::F32;
  if (type.isF64())
    return DType::F64;
  if (type.isInteger(1))
    return DType::I1;
  if (type.isInteger(8))
    return DType::I8;
  if (type.isInteger(16))
    return DType::I16;
  if (type.isInteger(32))
    return DType::I32;
  if (type.isInteger(64) || type.isIndex())
    return DType::I64;
  return std::nullopt;
}

static std::string getText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// What an argument or result is on the host: a memref is an array of its
/// shape, a scalar one of rank 0.
static llvm::Expected<Expectation> getExpectation(Type type,
                                                  llvm::StringRef what) {
  auto memref = dyn_cast<MemRefType>(type);
  std::optional<DType> dtype =
      getDType(memref ? memref.getElementType() : type);
  if (!dtype)
    return makeError(what + ": expected a type that arrays have, but got " +
                     getText(type));
  Expectation expectation;
  expectation.dtype = dtype;
  expectation.shape = memref ? llvm::SmallVector<int64_t>(memref.getShape())
                             : llvm::SmallVector<int64_t>();
  return expectation;
}

/// A descriptor of a row-major array, if the memref's layout allows one.
static llvm::Expected<llvm::SmallVector<int64_t, 9>>
makeDescriptor(MemRefType type, Array &array, llvm::StringRef what) {
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      (!ShapedType::isDynamic(offset) && offset != 0))
    return makeError(what + ": expected a layout without an offset, but got " +
                     getText(type));
  llvm::SmallVector<int64_t> actual = array.getStrides();
  for (auto [stride, got] : llvm::zip_equal(strides, actual))
    if (!ShapedType::isDynamic(stride) && stride != got &&
        array.getNumElements() > 0)
      return makeError(what + ": expected a row-major layout, but got " +
                       getText(type));
  auto address = reinterpret_cast<int64_t>(array.data());
  llvm::SmallVector<int64_t, 9> words{address, address, 0};
  llvm::append_range(words, array.getShape());
  llvm::append_range(words, actual);
  return words;
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

static bool isSpace(Type type) { return isa<pol::SpaceTypeInterface>(type); }

llvm::Error Arguments::bindInputs() {
  size_t wanted = llvm::count_if(type.getInputs(),
                                 [](Type input) { return !isSpace(input); });
  if (inputs.size() != wanted)
    return makeError("expected " + counted(wanted, "input") + ", but got " +
                     llvm::Twine(inputs.size()));
  size_t next = 0;
  for (Type input : type.getInputs()) {
    Words &words = arguments.emplace_back();
    if (isSpace(input))
      continue;
    std::string what = ("input " + llvm::Twine(next)).str();
    Array &array = inputs[next++];
    llvm::Expected<Expectation> expectation = getExpectation(input, what);
    if (!expectation)
      return expectation.takeError();
    if (llvm::Error error = checkArray(array, *expectation, what))
      return error;
    if (auto memref = dyn_cast<MemRefType>(input)) {
      auto descriptor = makeDescriptor(memref, array, what);
      if (!descriptor)
        return descriptor.takeError();
      words = std::move(*descriptor);
    } else {
      words.push_back(0);
      memcpy(words.data(), array.data(), array.getByteSize());
    }
  }
  return llvm::Error::success();
}

llvm::Error Arguments::bindSpaces(SpaceSpec spec, Footprints footprints) {
  llvm::DenseMap<unsigned, int64_t> bytes;
  if (spec.isExact) {
    auto needed = footprints(getSizeParameters());
    if (!needed)
      return needed.takeError();
    bytes = std::move(*needed);
  }
  for (auto [number, input] : llvm::enumerate(type.getInputs())) {
    if (!isSpace(input))
      continue;
    if (spec.isExact) {
      auto found = bytes.find(number);
      spec.arenaBytes = found == bytes.end()
                            ? std::nullopt
                            : std::optional<int64_t>(found->second);
    }
    auto space = HostSpace::create(spec);
    if (!space)
      return space.takeError();
    arguments[number].push_back(reinterpret_cast<int64_t>((*space)->get()));
    spaces.push_back(std::move(*space));
  }
  return llvm::Error::success();
}

size_t Arguments::getSpaceNumber(unsigned argument) const {
  return llvm::count_if(type.getInputs().take_front(argument), isSpace);
}

llvm::SmallVector<int64_t> Arguments::getSizeParameters() const {
  llvm::SmallVector<int64_t> parameters;
  for (auto [words, input] : llvm::zip_equal(arguments, type.getInputs())) {
    if (input.isIndex())
      parameters.push_back(words.front());
    if (auto memref = dyn_cast<MemRefType>(input))
      for (auto [dimension, extent] : llvm::enumerate(memref.getShape()))
        if (ShapedType::isDynamic(extent))
          parameters.push_back(words[3 + dimension]);
  }
  return parameters;
}

llvm::Expected<Arguments> Arguments::bind(FunctionType type,
                                          std::vector<Array> inputs,
                                          SpaceSpec spec,
                                          Footprints footprints) {
  Arguments bound;
  bound.type = type;
  bound.inputs = std::move(inputs);
  if (llvm::Error error = bound.bindInputs())
    return std::move(error);
  if (llvm::Error error = bound.bindSpaces(spec, footprints))
    return std::move(error);
  for (auto [index, result] : llvm::enumerate(type.getResults())) {
    auto expectation =
        getExpectation(result, ("result " + llvm::Twine(index)).str());
    if (!expectation)
      return expectation.takeError();
    auto memref = dyn_cast<MemRefType>(result);
    bound.results.emplace_back(memref ? 3 + 2 * memref.getRank() : 2, 0);
  }
  return bound;
}

llvm::SmallVector<void *> Arguments::pack() {
  // Each entry points to a value; descriptors and results are themselves
  // pointers.
  llvm::SmallVector<void *> packed;
  pointers.clear();
  pointers.reserve(arguments.size() + results.size());
  errorPointer = error.get();
  packed.push_back(&errorPointer);
  for (Words &words : results)
    packed.push_back(&pointers.emplace_back(words.data()));
  for (auto [words, input] : llvm::zip_equal(arguments, type.getInputs()))
    packed.push_back(isa<MemRefType>(input)
                         ? &pointers.emplace_back(words.data())
                         : static_cast<void *>(words.data()));
  packed.push_back(&status);
  return packed;
}

llvm::Expected<Array> Arguments::getResult(unsigned index) const {
  const Words &words = results[index];
  Type type = this->type.getResult(index);
  auto memref = dyn_cast<MemRefType>(type);
  DType dtype = *getDType(memref ? memref.getElementType() : type);
  size_t rank = memref ? memref.getRank() : 0;
  llvm::ArrayRef<int64_t> shape, strides;
  if (memref) {
    shape = llvm::ArrayRef(words).slice(3, rank);
    strides = llvm::ArrayRef(words).slice(3 + rank, rank);
  }
  llvm::Expected<Array> array = Array::create(dtype, shape);
  if (!array)
    return array.takeError();
  int64_t elementSize = getElementSize(dtype);
  if (!memref) {
    memcpy(array->data(), words.data(), elementSize);
    return array;
  }

  const char *base =
      reinterpret_cast<const char *>(words[1]) + words[2] * elementSize;
  // Row-major order, with the index as an odometer.
  llvm::SmallVector<int64_t> position(rank, 0);
  for (int64_t i = 0, e = array->getNumElements(); i < e; ++i) {
    int64_t offset = 0;
    for (size_t d = 0; d < rank; ++d)
      offset += position[d] * strides[d];
    memcpy(array->data() + i * elementSize, base + offset * elementSize,
           elementSize);
    for (size_t d = rank; d-- > 0;) {
      if (++position[d] < shape[d])
        break;
      position[d] = 0;
    }
  }
  return array;
}
