// REQUIRES: pol-run
// RUN: pol-run %s --entry norm --input 3x64xf32=ones --input 64xf32=ones --input 3x64xf32=zeros \
// RUN:   | FileCheck %s
// RUN: not pol-run %s --entry norm --input 3x64xf32=ones --input 63xf32=ones --input 3x64xf32=zeros 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WEIGHT
// RUN: not pol-run %s --entry norm --input 3x64xf32=ones --input 64xf32=ones --input 2x64xf32=zeros 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ROWS
// RUN: not pol-run %s --entry norm --input 3x64xf32=ones --input 63xf32=ones --input 3x64xf32=zeros 2>&1 | count 1
// RUN: pol-run %s --entry norm --no-checks --input 3x64xf32=ones --input 65xf32=ones --input 3x64xf32=zeros \
// RUN:   | FileCheck %s
// RUN: pol-run %s --entry relations --input i64=8 --input i64=4 --input i64=4 | FileCheck %s --check-prefix=FINE
// RUN: pol-run %s --entry relations --input i64=0 --input i64=0 --input i64=0 | FileCheck %s --check-prefix=FINE
// RUN: not pol-run %s --entry relations --input i64=6 --input i64=4 --input i64=4 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MULTIPLE
// RUN: not pol-run %s --entry relations --input i64=6 --input i64=0 --input i64=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OF-ZERO
// RUN: not pol-run %s --entry relations --input i64=4 --input i64=8 --input i64=8 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MOST
// RUN: not pol-run %s --entry relations --input i64=8 --input i64=4 --input i64=5 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LEAST
// RUN: not pol-run %s --entry in_parallel --threads 1 --input 4x3x64xf32=ones --input 63xf32=ones 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WEIGHT
// RUN: not pol-run %s --entry in_parallel --threads 2 --input 4x3x64xf32=ones --input 63xf32=ones 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WEIGHT
// RUN: pol-run %s --entry in_parallel --threads 2 --input 4x3x64xf32=ones --input 64xf32=ones | FileCheck %s
// RUN: pol-run %s --entry in_parallel --threads 2 --input 0x3x64xf32=ones --input 63xf32=ones \
// RUN:   | FileCheck %s --check-prefix=EMPTY
// RUN: not pol-run %s --entry retracted --space arena:1K --input 3x64xf32=ones --input 63xf32=ones --memory-report 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WEIGHT
// RUN: pol-run %s --entry narrowed --space arena:1K --input 3x4xf32=ones | FileCheck %s --check-prefix=NARROWED
// RUN: not pol-run %s --entry narrowed --space arena:1K --input 3x5xf32=ones 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: pol-run %s --entry narrowed --no-checks --space arena:1K --input 3x5xf32=ones \
// RUN:   | FileCheck %s --check-prefix=NARROWED

// What a kernel's verifier cannot see is found out when it runs, before it
// writes anything.

// CHECK: result 0: {{.*}} min 0.99999{{.*}} max 0.99999
// EMPTY: result 0: 0x3x64xf32
// FINE: result 0: {{.*}} [1]
// WEIGHT: pol-run: error: shape mismatch: expected extent 0 of weight of kernel 'pol.rms_norm' to be 64, but got 63, at {{.*}}checks.mlir:[[#]]:
// ROWS: pol-run: error: shape mismatch: expected extent 0 of y of kernel 'pol.rms_norm' to be 3, but got 2, at
// MULTIPLE: pol-run: error: shape mismatch: expected n to be a multiple of 4, but got 6, at {{.*}}checks.mlir:[[#]]:8
// OF-ZERO: pol-run: error: shape mismatch: expected n to be a multiple of 0, but got 6
// MOST: pol-run: error: shape mismatch: expected m of kernel 'k' to be at most 4, but got 8
// LEAST: pol-run: error: shape mismatch: expected m of kernel 'k' to be at least 5, but got 4
// NARROWED: result 0: {{.*}} [3]
// NARROW: pol-run: error: shape mismatch: expected extent 1 of what pol.undef narrows to be 4, but got 5, at {{.*}}checks.mlir:[[#]]:
func.func @norm(%x: tensor<?x?xf32>, %w: tensor<?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = pol.rms_norm ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%y : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @relations(%n: index, %m: index, %k: index) -> i64 {
  %one = arith.constant 1 : i64
  %0 = pol.check %m le %n, "m" {kernel = "k"}
  %1 = pol.check %m ge %k, "m" {kernel = "k"}
  %2 = pol.check %n multiple_of %m, "n"
  return %one : i64
}

func.func @in_parallel(%x: memref<?x?x?xf32>, %w: memref<?xf32>) -> memref<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %batch = memref.dim %x, %c0 : memref<?x?x?xf32>
  %rows = memref.dim %x, %c1 : memref<?x?x?xf32>
  %columns = memref.dim %x, %c2 : memref<?x?x?xf32>
  scf.parallel (%i) = (%c0) to (%batch) step (%c1) {
    %s = memref.subview %x[%i, 0, 0] [1, %rows, %columns] [1, 1, 1]
        : memref<?x?x?xf32> to memref<?x?xf32, strided<[?, 1], offset: ?>>
    pol.rms_norm ins(%s, %w : memref<?x?xf32, strided<[?, 1], offset: ?>>, memref<?xf32>)
        outs(%s : memref<?x?xf32, strided<[?, 1], offset: ?>>)
  }
  return %x : memref<?x?x?xf32>
}

func.func @retracted(%a: !pol.arena, %x: tensor<?x?xf32>, %w: tensor<?xf32>) -> tensor<?x?xf32> {
  %y = pol.outputs "pol.rms_norm"(%x, %w) in %a : (tensor<?x?xf32>, tensor<?xf32>), !pol.arena -> !pol.bundle<{y: tensor<?x?xf32>}>
  %r = pol.call "pol.rms_norm"(%x, %w) outputs(%y) : (tensor<?x?xf32>, tensor<?xf32>), !pol.bundle<{y: tensor<?x?xf32>}> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

func.func @narrowed(%a: !pol.arena, %x: tensor<?x?xf32>) -> index {
  %c0 = arith.constant 0 : index
  %n = pol.frame on %a : !pol.arena -> index {
  ^bb0(%f: !pol.frame):
    %u = pol.undef like %x : tensor<?x?xf32> -> !pol.undef<?x4xf32>
    %t = pol.alloc %f, %u : !pol.frame, !pol.undef<?x4xf32> -> tensor<?x4xf32>
    %d = tensor.dim %t, %c0 : tensor<?x4xf32>
    pol.yield %d : index
  }
  return %n : index
}
