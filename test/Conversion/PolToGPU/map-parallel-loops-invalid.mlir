// RUN: pol-opt %s --pol-map-parallel-loops-to-gpu --split-input-file --verify-diagnostics -o /dev/null
// RUN: pol-opt %s --pol-map-parallel-loops-to-gpu=worker-memory=workgroup --split-input-file --verify-diagnostics -o /dev/null
// RUN: not pol-opt %s --pol-map-parallel-loops-to-gpu=block-size=1025 -o /dev/null 2>&1 \
// RUN:   | FileCheck %s
// RUN: not pol-opt %s --pol-map-parallel-loops-to-gpu=block-size=0 -o /dev/null 2>&1 \
// RUN:   | FileCheck %s

// RUN: not pol-opt %s --pol-map-parallel-loops-to-gpu=worker-memory=shared -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MEMORY
// RUN: not pol-opt %s --pol-to-nvvm=worker-memory= -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=EMPTY

// CHECK: error: expected block-size to be between 1 and 1024, but got {{1025|0}}
// MEMORY: error: expected worker-memory to be local or workgroup, but got 'shared'
// EMPTY: error: expected worker-memory to be local or workgroup, but got ''

func.func @on_the_host(%m: memref<4xf32, #gpu.address_space<global>>, %i: index, %v: f32) {
  // expected-error@+1 {{expected access to 'memref<4xf32, #gpu.address_space<global>>' to be in a parallel loop, which runs on the GPU, but got one on the host}}
  memref.store %v, %m[%i] : memref<4xf32, #gpu.address_space<global>>
  return
}

// -----

func.func @read_by_a_host_loop(%m: memref<4xf32, #gpu.address_space<global>>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 {
    // expected-error@+1 {{but got one on the host}}
    %v = memref.load %m[%i] : memref<4xf32, #gpu.address_space<global>>
    %t = arith.addf %s, %v : f32
    scf.yield %t : f32
  }
  return %sum : f32
}

// -----

func.func @memory_space_cast(%m: memref<4xf32, #gpu.address_space<global>>) {
  // expected-error@+1 {{expected memory of the GPU to keep its memory space on the host, but got 'memref<4xf32>'}}
  %n = memref.memory_space_cast %m : memref<4xf32, #gpu.address_space<global>> to memref<4xf32>
  linalg.exp ins(%n : memref<4xf32>) outs(%n : memref<4xf32>)
  return
}

// -----

func.func @memory_of_the_host(%m: memref<4xf32, #gpu.address_space<global>>, %x: memref<4xf32>) {
  // expected-error@+1 {{expected a loop that runs on the GPU to use memory of the GPU only, but got 'memref<4xf32>'}}
  memref.copy %x, %m : memref<4xf32> to memref<4xf32, #gpu.address_space<global>>
  return
}

// -----

func.func @reduction(%m: memref<?xf32, #gpu.address_space<global>>, %n: index, %z: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected a loop that runs on the GPU to have no reduction, but got 1}}
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f32 {
    %v = memref.load %m[%i] : memref<?xf32, #gpu.address_space<global>>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  return %r : f32
}

// -----

func.func private @external(f32)
func.func @external_callee(%m: memref<?xf32, #gpu.address_space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %m[%i] : memref<?xf32, #gpu.address_space<global>>
    // expected-error@+1 {{expected a callee with a body of structured control flow in a loop that runs on the GPU, but got @external}}
    func.call @external(%v) : (f32) -> ()
  }
  return
}

// -----

func.func @recursive(%m: memref<?xf32, #gpu.address_space<global>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    // expected-error@+1 {{expected a callee that does not call itself in a loop that runs on the GPU, but got @recursive}}
    func.call @recursive(%m, %i) : (memref<?xf32, #gpu.address_space<global>>, index) -> ()
  }
  return
}

// -----

func.func @dynamic_stack(%m: memref<?xf32, #gpu.address_space<global>>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    // expected-error@+1 {{expected a buffer of static size on the stack of a loop that runs on the GPU, but got 'memref<?xf32>'}}
    %t = memref.alloca(%n) : memref<?xf32>
    memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  }
  return
}

// -----

func.func @allocation(%m: memref<?xf32, #gpu.address_space<global>>, %n: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{expected a loop that runs on the GPU to hold what can run there, but got 'memref.alloc'}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    // expected-note@+1 {{it is here}}
    %t = memref.alloc() : memref<4xf32>
    memref.store %v, %m[%i] : memref<?xf32, #gpu.address_space<global>>
  }
  return
}

// -----

func.func @chosen(%m: memref<4xf32, #gpu.address_space<global>>, %n: index, %b: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloca() : memref<4xf32, #gpu.address_space<global>>
    // expected-error@+1 {{expected a buffer of a frame in a loop that runs on the GPU to be used directly or through views, but got one that is passed on}}
    %s = arith.select %b, %t, %m : memref<4xf32, #gpu.address_space<global>>
    %v = memref.load %s[%i] : memref<4xf32, #gpu.address_space<global>>
    memref.store %v, %m[%i] : memref<4xf32, #gpu.address_space<global>>
  }
  return
}
