//===----------------------------------------------------------------------===//
//
// Part of the pol project, under the Apache License v2.0 with LLVM Exceptions.
// See the LICENSE file at the root of the tree for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pol/Runtime/Heap.h"
#include "Detail.h"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

using namespace pol::runtime;

static_assert(offsetof(pol_heap, space) == 0,
              "a heap's address is its space's address");

/// What precedes the bytes of every allocation.
struct pol_heap_block {
  pol_heap_block *older;
  pol_heap_block *newer;
  void *memory; // what to free
  int64_t bytes;
  int64_t sequence; // decreases from newer to older
};

/// One cache line, and one AVX-512 register.
static constexpr int64_t defaultAlignment = 64;

static pol_heap *asHeap(pol_space *space) {
  return reinterpret_cast<pol_heap *>(space);
}

static void *addressOf(pol_heap_block *block) { return block + 1; }

static pol_heap_block *blockAt(void *address) {
  return static_cast<pol_heap_block *>(address) - 1;
}

/// A block that is in no list yet, or null. Its bytes end where the system's
/// allocation ends, so that AddressSanitizer sees the first byte too many.
static pol_heap_block *allocateBlock(int64_t bytes, int64_t alignment) {
  uintptr_t before;
  if (!alignUp(sizeof(pol_heap_block), alignment, before))
    return nullptr;
  uint64_t total = static_cast<uint64_t>(bytes) + before;
  if (total > static_cast<uint64_t>(PTRDIFF_MAX))
    return nullptr;
  void *memory = nullptr;
  if (posix_memalign(&memory, static_cast<std::size_t>(alignment),
                     static_cast<std::size_t>(total)) != 0)
    return nullptr;
  void *place = blockAt(static_cast<char *>(memory) + before);
  return new (place) pol_heap_block{nullptr, nullptr, memory, bytes, 0};
}

static void link(pol_heap *heap, pol_heap_block *block) {
  block->sequence = ++heap->sequence;
  block->older = heap->last;
  if (heap->last)
    heap->last->newer = block;
  heap->last = block;
  heap->live += block->bytes;
  heap->peak = std::max(heap->peak, heap->live);
  ++heap->allocations;
}

static void unlinkAndFree(pol_heap *heap, pol_heap_block *block) {
  if (block->newer)
    block->newer->older = block->older;
  else
    heap->last = block->older;
  if (block->older)
    block->older->newer = block->newer;
  heap->live -= block->bytes;
  ++heap->frees;
  std::free(block->memory);
}

/// Frees what was carved after sequence, newest first.
static void freeAfter(pol_heap *heap, int64_t sequence) {
  while (heap->last && heap->last->sequence > sequence)
    unlinkAndFree(heap, heap->last);
  heap->sequence = sequence;
}

/// True if address is what a carve of zero bytes got: a power of two, and not
/// by chance the address of a block.
static bool isZeroBytes(const pol_heap *heap, void *address) {
  uintptr_t value = reinterpret_cast<uintptr_t>(address);
  if ((value & (value - 1)) != 0)
    return false;
  for (pol_heap_block *block = heap->last; block; block = block->older)
    if (addressOf(block) == address)
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// The heap as a space
//===----------------------------------------------------------------------===//

static int64_t availableOp(pol_space *space) {
  pol_heap *heap = asHeap(space);
  return heap->limit < 0 ? -1 : heap->limit - heap->live;
}

static void *carveOp(pol_space *space, int64_t bytes, int64_t alignment) {
  pol_heap *heap = asHeap(space);
  if (alignment != 0 && !isAlignment(alignment)) {
    fail(POL_INVALID_ARGUMENT, bytes, -1,
         "alignment %" PRId64 " of a carve is no power of two", alignment);
    return nullptr;
  }
  if (bytes < 0) {
    fail(POL_INVALID_SIZE, bytes, -1, "allocation of %" PRId64 " bytes", bytes);
    return nullptr;
  }
  alignment = std::max(alignment, defaultAlignment);
  // Nothing to allocate, so nothing that could fail.
  if (bytes == 0)
    return zeroBytesAddress(alignment);
  int64_t ceiling = heap->limit < 0 ? INT64_MAX : heap->limit;
  if (bytes > ceiling - heap->live) {
    fail(POL_OUT_OF_MEMORY, bytes, availableOp(space), "allocation");
    return nullptr;
  }
  pol_heap_block *block = allocateBlock(bytes, alignment);
  if (!block) {
    // The limit would have allowed it: how much the system has is unknown.
    fail(POL_OUT_OF_MEMORY, bytes, -1, "allocation");
    return nullptr;
  }
  link(heap, block);
  return addressOf(block);
}

static pol_mark markOp(pol_space *space) {
  return {asHeap(space)->sequence, asHeap(space)->epoch};
}

static pol_status retractOp(pol_space *space, pol_mark mark) {
  pol_heap *heap = asHeap(space);
  if (mark.epoch != heap->epoch || mark.offset < 0 ||
      mark.offset > heap->sequence)
    return failStaleMark("heap", mark, markOp(space));
  freeAfter(heap, mark.offset);
  return POL_OK;
}

static void releaseOp(pol_space *space, void *address) {
  pol_heap *heap = asHeap(space);
  if (address && !isZeroBytes(heap, address))
    unlinkAndFree(heap, blockAt(address));
}

static void resetOp(pol_space *space) {
  freeAfter(asHeap(space), 0);
  ++asHeap(space)->epoch;
}

static int64_t watermarkOp(pol_space *space) { return asHeap(space)->peak; }

static const pol_space_ops heapOps = {"heap",  carveOp,    availableOp,
                                      markOp,  retractOp,  releaseOp,
                                      resetOp, watermarkOp};

//===----------------------------------------------------------------------===//
// Making and destroying heaps
//===----------------------------------------------------------------------===//

pol_status pol_heap_init(pol_heap *heap, int64_t limit) {
  if (!heap)
    return fail(POL_INVALID_ARGUMENT, -1, -1, "initialization of a null heap");
  if (limit < -1)
    return fail(POL_INVALID_ARGUMENT, -1, -1,
                "limit of a heap is negative: %" PRId64, limit);
  *heap = pol_heap();
  heap->space.ops = &heapOps;
  heap->limit = limit;
  return POL_OK;
}

void pol_heap_destroy(pol_heap *heap) {
  if (heap)
    resetOp(&heap->space);
}

// The heap itself has no destructor, so that it stays a valid, empty heap for
// whatever runs after its owner at the end of the thread.
static thread_local pol_heap threadHeap;

namespace {
struct ThreadHeapOwner {
  ThreadHeapOwner() { pol_heap_init(&threadHeap, -1); }
  ~ThreadHeapOwner() { pol_heap_destroy(&threadHeap); }
};
} // namespace

pol_space *pol_thread_heap(void) {
  static thread_local ThreadHeapOwner owner;
  (void)owner;
  return &threadHeap.space;
}
