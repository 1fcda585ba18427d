// RUN: pol-opt %s --pol-erase-gpu-memory-spaces --split-input-file \
// RUN:   --verify-diagnostics

// What the host allocates is the host's, whatever its type says.

func.func @heap() {
  // expected-error @below {{expected a heap of the host's memory, but got '!pol.heap<#gpu.address_space<global>>'}}
  %h = pol.thread_heap : !pol.heap<#gpu.address_space<global>>
  return
}

// -----

func.func @alloc(%n: index) {
  // expected-error @below {{expected memory of the host, but got 'memref<?xf32, #gpu.address_space<global>>': memory of the GPU comes from a space}}
  %m = memref.alloc(%n) : memref<?xf32, #gpu.address_space<global>>
  return
}

// -----

func.func @alloca() {
  // expected-error @below {{expected memory of the host, but got}}
  %m = memref.alloca() : memref<4xf32, #gpu.address_space<global>>
  return
}

// -----

memref.global constant @constant : memref<2xf32, #gpu.address_space<global>> = dense<1.0>
func.func @global() {
  // expected-error @below {{expected memory of the host, but got}}
  %m = memref.get_global @constant : memref<2xf32, #gpu.address_space<global>>
  return
}
