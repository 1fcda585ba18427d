// Scratch that went through pol.get or pol.merge before it was allocated was not
// known to be scratch, and could be allocated outside of a frame.

// RUN: pol-opt %s --pol-resolve-descriptions --pol-flatten-bundles \
// RUN:   --pol-verify-lifetimes --split-input-file --verify-diagnostics

func.func private @k(tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
pol.description for @k(%x: tensor<?xf32>) {
  %u = pol.undef like %x : tensor<?xf32>
  pol.describe scratch {t(1) = %u : !pol.undef<?xf32>}
}
func.func @get(%arena: !pol.arena, %x: tensor<?xf32>) -> tensor<?xf32> {
  %s = pol.scratch @k(%x) : (tensor<?xf32>) -> !pol.bundle<{t: !pol.undef<?xf32>}>
  %u = pol.get %s, "t" : !pol.bundle<{t: !pol.undef<?xf32>}>
  // expected-error @below {{expected scratch of kernel 'k' to be allocated from a frame, but got '!pol.arena'}}
  %t = pol.alloc %arena, %u : !pol.arena, !pol.undef<?xf32> -> tensor<?xf32>
  %r = func.call @k(%x, %t) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func private @k(tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
pol.description for @k(%x: tensor<?xf32>) {
  %u = pol.undef like %x : tensor<?xf32>
  pol.describe scratch {t(1) = %u : !pol.undef<?xf32>}
}
func.func @merge(%arena: !pol.arena, %x: tensor<?xf32>) -> tensor<?xf32> {
  %s = pol.scratch @k(%x) : (tensor<?xf32>) -> !pol.bundle<{t: !pol.undef<?xf32>}>
  %e = pol.bundle {}
  %m = pol.merge %e, %s : !pol.bundle<{}>, !pol.bundle<{t: !pol.undef<?xf32>}>
  // expected-error @below {{expected scratch 't' of kernel 'k' to be allocated from a frame, but got '!pol.arena'}}
  %b = pol.alloc %arena, %m : !pol.arena, !pol.bundle<{t: !pol.undef<?xf32>}> -> !pol.bundle<{t: tensor<?xf32>}>
  %r = pol.call @k(%x) scratch(%b) : (tensor<?xf32>), !pol.bundle<{t: tensor<?xf32>}> -> tensor<?xf32>
  return %r : tensor<?xf32>
}
