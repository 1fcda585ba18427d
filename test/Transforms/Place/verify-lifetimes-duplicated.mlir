// RUN: pol-opt %s --pol-resolve-descriptions --pol-flatten-bundles \
// RUN:   --pol-verify-lifetimes --split-input-file --verify-diagnostics

// A shadow lives as long as what it was allocated from, whatever its primal.

!pair = !pol.duplicated<tensor<4xbf16>, tensor<4xf32>>
!spec = !pol.duplicated<tensor<4xbf16>, !pol.undef<4xf32>>

func.func @inside(%arena: !pol.arena, %x: tensor<4xbf16>) -> tensor<4xbf16> {
  %r = pol.frame on %arena : !pol.arena -> tensor<4xbf16> {
  ^bb0(%f: !pol.frame):
    %d = pol.duplicated %x : tensor<4xbf16> -> !spec
    %a = pol.alloc %f, %d : !pol.frame, !spec -> !pair
    %p = pol.primal %a : !pair
    pol.yield %p : tensor<4xbf16>
  }
  return %r : tensor<4xbf16>
}

func.func @escapes(%arena: !pol.arena, %x: tensor<4xbf16>) -> !pair {
  // expected-note @below {{from the frame opened here}}
  %r = pol.frame on %arena : !pol.arena -> !pair {
  ^bb0(%f: !pol.frame):
    %d = pol.duplicated %x : tensor<4xbf16> -> !spec
    // expected-note @below {{it is allocated here}}
    %a = pol.alloc %f, %d : !pol.frame, !spec -> !pair
    // expected-error @below {{expected a value that outlives the frame, but buffer 'shadow' goes with it}}
    pol.yield %a : !pair
  }
  return %r : !pair
}

// -----

func.func private @k(tensor<4xf32>, !pol.duplicated<tensor<4xf32>>)
pol.description for @k(%x: tensor<4xf32>) {
  %u = pol.undef like %x : tensor<4xf32>
  %d = pol.duplicated %u : !pol.undef<4xf32>
  pol.describe scratch {t(1) = %d : !pol.duplicated<!pol.undef<4xf32>>}
}
func.func @scratch(%arena: !pol.arena, %x: tensor<4xf32>) {
  %s = pol.scratch @k(%x) : (tensor<4xf32>) -> !pol.bundle<{t: !pol.duplicated<!pol.undef<4xf32>>}>
  %d = pol.get %s, "t" : !pol.bundle<{t: !pol.duplicated<!pol.undef<4xf32>>}>
  %v = pol.shadow %d : !pol.duplicated<!pol.undef<4xf32>>
  %y = pol.duplicated %x, %v : tensor<4xf32>, !pol.undef<4xf32>
  // expected-error @below {{expected scratch 'shadow' of kernel 'k' to be allocated from a frame, but got '!pol.arena'}}
  %a = pol.alloc %arena, %y : !pol.arena, !pol.duplicated<tensor<4xf32>, !pol.undef<4xf32>> -> !pol.duplicated<tensor<4xf32>>
  call @k(%x, %a) : (tensor<4xf32>, !pol.duplicated<tensor<4xf32>>) -> ()
  return
}
