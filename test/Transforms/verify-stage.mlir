// RUN: split-file %s %t
// RUN: pol-opt %t/describe.mlir --pol-verify-stage=stage=describe --split-input-file \
// RUN:   --verify-diagnostics -o /dev/null
// RUN: pol-opt %t/materialize.mlir --pol-verify-stage=stage=materialize --split-input-file \
// RUN:   --verify-diagnostics -o /dev/null
// RUN: pol-opt %t/place.mlir --pol-verify-stage=stage=place --split-input-file \
// RUN:   --verify-diagnostics -o /dev/null
// RUN: pol-opt %t/expand.mlir --pol-verify-stage=stage=expand --split-input-file \
// RUN:   --verify-diagnostics -o /dev/null
// RUN: pol-opt %t/target.mlir --pol-verify-stage=stage=target --split-input-file --allow-unregistered-dialect \
// RUN:   --verify-diagnostics -o /dev/null
// RUN: not pol-opt %t/unknown.mlir --pol-verify-stage=stage=plan 2>&1 \
// RUN:   | FileCheck %t/unknown.mlir

// Of each stage: what may remain, then what may not. A stage also looks for
// what the ones before it remove.

//--- describe.mlir
func.func @fine(%a: !pol.arena, %x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = pol.alloc %a : !pol.arena -> tensor<8x4xf32>
  %r = pol.frame on %a : !pol.arena -> tensor<8x4xf32> {
  ^bb0(%f: !pol.frame):
    %0 = pol.rms_norm ins(%x : tensor<8x4xf32>) outs(%y : tensor<8x4xf32>) -> tensor<8x4xf32>
    pol.yield %0 : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

func.func @undef() {
  // expected-error@+1 {{expected no descriptions, bundles, duplicated values or verbs after stage 'describe', but got 'pol.undef'}}
  %u = pol.undef : !pol.undef<4xf32>
  return
}

// -----

// expected-error@+1 {{but got 'func.func'}}
func.func private @argument(!pol.bundle<{y: tensor<4xf32>}>)

// -----

// expected-error@+1 {{but got 'func.func'}}
func.func private @of_function_type((!pol.undef<4xf32>) -> ())

// -----

// expected-error@+1 {{but got 'func.func'}}
func.func private @duplicated(!pol.duplicated<tensor<4xf32>>)

// -----

func.func @primal(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{but got 'pol.primal'}}
  %p = pol.primal %x : tensor<4xf32>
  return %p : tensor<4xf32>
}

//--- materialize.mlir
func.func @fine(%a: !pol.arena, %x: memref<8x4xf32>) {
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
    %y = pol.alloc %f : !pol.frame -> memref<8x4xf32>
    pol.rms_norm ins(%x : memref<8x4xf32>) outs(%y : memref<8x4xf32>)
  }
  return
}

// -----

func.func @tensor() {
  // expected-error@+1 {{expected no tensors after stage 'materialize', but got 'arith.constant'}}
  %t = arith.constant dense<0.0> : tensor<4xf32>
  return
}

// -----

// expected-error@+1 {{expected no tensors}}
func.func private @function_type() -> ((tensor<4xf32>) -> ())

//--- place.mlir
func.func @fine(%a: !pol.arena, %x: memref<8x4xf32>) {
  %m = pol.mark %a : !pol.arena
  %y, %ok = pol.carve %a : !pol.arena -> memref<8x4xf32>
  pol.rms_norm ins(%x : memref<8x4xf32>) outs(%y : memref<8x4xf32>)
  %done = pol.retract %a, %m : !pol.arena
  return
}

// -----

func.func @alloc(%a: !pol.arena) {
  // expected-error@+1 {{expected no frames, captures or allocations after stage 'place', but got 'pol.alloc'}}
  %y = pol.alloc %a : !pol.arena -> memref<4xf32>
  return
}

// -----

func.func @frame(%a: !pol.arena) {
  // expected-error@+1 {{but got 'pol.frame'}}
  pol.frame on %a : !pol.arena {
  ^bb0(%f: !pol.frame):
  }
  return
}

// -----

func.func @capture() {
  // expected-error@+1 {{but got 'pol.capture'}}
  pol.capture {
  }
  return
}

//--- expand.mlir
func.func @fine(%a: !pol.arena, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %y, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  }
  return
}

// -----

func.func @kernel(%x: memref<8x4xf32>) {
  // expected-error@+1 {{expected no kernels after stage 'expand', but got 'pol.rms_norm'}}
  pol.rms_norm ins(%x : memref<8x4xf32>) outs(%x : memref<8x4xf32>)
  return
}

//--- target.mlir
func.func @fine(%a: !pol.arena) -> (i1, i1) {
  %m = pol.mark %a : !pol.arena
  %y, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  %done = pol.retract %a, %m : !pol.arena
  return %ok, %done : i1, i1
}
func.func @pol_entry_fine(%a: !pol.arena) attributes {pol.entry} {
  %m = pol.mark %a : !pol.arena
  %done = pol.retract %a, %m : !pol.arena
  return
}

// -----

func.func @carve(%a: !pol.arena) {
  // expected-error@+1 {{expected no structured control flow, carves, retracts or checks whose status is unused, or memory spaces after stage 'target', but got 'pol.carve'}}
  %y, %ok = pol.carve %a : !pol.arena -> memref<4xf32>
  return
}

// -----

func.func @check(%n: index, %m: index) {
  // expected-error@+1 {{but got 'pol.check'}}
  %ok = pol.check %n eq %m, "n"
  return
}

// -----

func.func @retract(%a: !pol.arena) {
  %m = pol.mark %a : !pol.arena
  // expected-error@+1 {{but got 'pol.retract'}}
  %done = pol.retract %a, %m : !pol.arena
  return
}

// -----

func.func @structured(%c: i1) {
  // expected-error@+1 {{but got 'scf.if'}}
  scf.if %c {
  }
  return
}

// -----

// expected-error@+1 {{but got 'func.func'}}
func.func private @memory_space(memref<4xf32, 1>)

// -----

func.func @block() {
  // expected-error@+1 {{expected no tensors after stage 'target', but got 'test.region'}}
  "test.region"() ({
  ^bb0(%t: tensor<4xf32>):
    "test.end"() : () -> ()
  }) : () -> ()
  return
}

//--- unknown.mlir
// CHECK: error: expected stage to be describe, materialize, place, expand or target, but got 'plan'
module {
}
