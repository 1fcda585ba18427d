// RUN: pol-opt %s --pol-report-hidden --split-input-file --verify-diagnostics \
// RUN:   -o /dev/null

// Stack buffers that nothing marks as known: static ones are tiles as long as a
// worker has at most 16 KiB of them.

func.func @in_all() {
  %0 = memref.alloca() : memref<2048xf32>
  %1 = memref.alloca() : memref<1024xf32>
  %2 = memref.alloca() : memref<1024xf32>
  // expected-remark@+1 {{expansion adds a stack buffer of type memref<1xi8>, which is none of at most 16384 bytes of static tiles}}
  %3 = memref.alloca() : memref<1xi8>
  return
}
func.func @again() {
  %0 = memref.alloca() : memref<4096xf32>
  return
}

// -----

// Each worker of a parallel loop has tiles of its own; its function, too.

func.func @workers(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = memref.alloca() : memref<4096xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %1 = memref.alloca() : memref<4096xf32>
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      %2 = memref.alloca() : memref<4096xf32>
    }
    // expected-remark@+1 {{adds a stack buffer of type memref<4xf32>}}
    %3 = memref.alloca() : memref<4xf32>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %4 = memref.alloca() : memref<4096xf32>
  }
  return
}

// -----

// One for each trip of a loop is no tile, nor is one of a size that is not
// known, or beyond all that is known.

func.func @unbounded(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-remark@+1 {{adds a stack buffer of type memref<4xf32>}}
    %0 = memref.alloca() : memref<4xf32>
  }
  // expected-remark@+1 {{adds a stack buffer of type memref<?xf32>}}
  %1 = memref.alloca(%n) : memref<?xf32>
  // expected-remark@+1 {{adds a stack buffer of type memref<4611686018427387904x4xf32>}}
  %2 = memref.alloca() : memref<4611686018427387904x4xf32>
  return
}

// -----

// The buffers of frames count for max-stack-bytes.

func.func @frames() {
  %0 = memref.alloca() {pol.buffer = {kernel = "k", name = "t"}} : memref<8192xf32>
  return
}

// -----

// A pol.alloc that no description asked for is as hidden as any other buffer.

func.func @carves(%a: !pol.arena) {
  // expected-remark@+1 {{expansion adds a buffer of type memref<4xf32>}}
  %0, %ok0 = pol.carve %a : !pol.arena -> memref<4xf32>
  %1, %ok1 = pol.carve %a {role = #pol.role<output>} : !pol.arena -> memref<4xf32>
  %2, %ok2 = pol.carve %a {role = #pol.role<checkpoint>} : !pol.arena -> memref<4xf32>
  return
}
