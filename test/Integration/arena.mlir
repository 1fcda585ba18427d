// REQUIRES: pol-run
// RUN: pol-run %s --entry nested --space arena:1024 --max-stack-bytes=0 --input i64=64 --memory-report \
// RUN:   --placement=carve | FileCheck %s
// RUN: not pol-run %s --entry nested --space arena:1023 --max-stack-bytes=0 --input i64=64 2>&1 \
// RUN:   --placement=carve | FileCheck %s --check-prefix=FULL
// RUN: pol-run %s --entry nested --space arena --max-stack-bytes=0 --input i64=64 --memory-report \
// RUN:   | FileCheck %s --check-prefix=PLAN
// RUN: not pol-run %s --entry nested --space arena:767 --max-stack-bytes=0 --input i64=64 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PLAN-FULL
// RUN: pol-run %s --entry recursive --space arena:4K --input i64=16 --memory-report \
// RUN:   | FileCheck %s --check-prefix=DEEP
// RUN: not pol-run %s --entry recursive --space arena:4095 --input i64=16 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TOO-DEEP
// RUN: not pol-run %s --entry after_reset --space arena:1K 2>&1 \
// RUN:   | FileCheck %s --check-prefix=RESET

// One byte less than is needed fails, in whatever depth of calls, with the
// message of the carve that did not fit.

func.func private @inner(%a: !pol.arena, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %y = pol.alloc %a[%n] {name = "y"} : !pol.arena -> memref<?xf32>
  linalg.fill ins(%one : f32) outs(%y : memref<?xf32>)
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %t = pol.alloc %f {name = "t"} : !pol.frame -> memref<64xf32>
    memref.store %one, %t[%c0] : memref<64xf32>
  }
  return %y : memref<?xf32>
}

func.func private @middle(%a: !pol.arena, %n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %y = func.call @inner(%a, %n) : (!pol.arena, index) -> memref<?xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    pol.frame on %a : !pol.arena {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f[%n] {name = "u"} : !pol.frame -> memref<?xf32>
      %z = func.call @inner(%a, %n) : (!pol.arena, index) -> memref<?xf32>
      memref.copy %z, %t : memref<?xf32> to memref<?xf32>
      memref.copy %t, %y : memref<?xf32> to memref<?xf32>
    }
  }
  return %y : memref<?xf32>
}

// CHECK: result 0: 64xf32 min 1 max 1
// CHECK: y - - arena 256 0 3
// CHECK: arena carved 1024 1024{{ }}
// CHECK-NOT: heap

// FULL: pol-run: error: out of memory: buffer 't' (64xf32) wants 256 bytes, but 255 are available, at {{.*}}arena.mlir:
// FULL-NOT: error
func.func @nested(%a: !pol.arena, %n: index) -> memref<?xf32> {
  %y = call @middle(%a, %n) : (!pol.arena, index) -> memref<?xf32>
  return %y : memref<?xf32>
}

// Planned, the inner frame's buffer takes over from others.

// PLAN: result 0: 64xf32 min 1 max 1
// PLAN: arena planned 768 1024 768{{ }}
// PLAN-FULL: pol-run: error: out of memory: all that function 'nested' allocates wants 768 bytes, but 767 are available, at {{.*}}arena.mlir:
// PLAN-FULL-NOT: error

// DEEP: result 0: {{.*}} [16]
// DEEP: arena carved 4096 4096{{ }}
// TOO-DEEP: pol-run: error: out of memory: buffer 'level' (64xf32) wants 256 bytes, but 255 are available
func.func @recursive(%a: !pol.arena, %n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %done = arith.cmpi eq, %n, %c0 : index
  %r = scf.if %done -> index {
    scf.yield %c0 : index
  } else {
    %s = pol.frame on %a : !pol.arena -> index {
    ^bb0(%f: !pol.frame):
      %t = pol.alloc %f {name = "level"} : !pol.frame -> memref<64xf32>
      %m = arith.subi %n, %c1 : index
      %u = func.call @recursive(%a, %m) : (!pol.arena, index) -> index
      %v = arith.addi %u, %c1 : index
      %x = arith.constant 1.0 : f32
      memref.store %x, %t[%c0] : memref<64xf32>
      pol.yield %v : index
    }
    scf.yield %s : index
  }
  return %r : index
}

// What failed is what is told, not that the entry's mark is stale by then.

// RESET: pol-run: error: out of memory: buffer 'large'
func.func @after_reset(%a: !pol.arena) -> f32 {
  %c0 = arith.constant 0 : index
  pol.reset %a : !pol.arena
  %t = pol.alloc %a {name = "large"} : !pol.arena -> memref<4096xf32>
  %v = memref.load %t[%c0] : memref<4096xf32>
  return %v : f32
}
