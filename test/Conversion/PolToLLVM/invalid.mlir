// RUN: pol-opt %s --convert-to-llvm --split-input-file --verify-diagnostics \
// RUN:   --allow-unregistered-dialect -o /dev/null

%a = "test.space"() : () -> !pol.arena
// expected-error@+1 {{failed to legalize operation 'pol.carve' that was explicitly marked illegal}}
%m, %ok = pol.carve %a : !pol.arena -> memref<4xf32>

// -----

func.func @address_space(%a: !pol.arena<1>) {
  // expected-error@+1 {{failed to legalize operation 'pol.carve' that was explicitly marked illegal}}
  %m, %ok = pol.carve %a : !pol.arena<1> -> memref<4xf32, 1>
  return
}

// -----

// The name is taken by something else.
// expected-error@+1 {{redefinition of function 'pol_space_reset' of different type}}
llvm.func @pol_space_reset(i32)
func.func @taken(%a: !pol.arena) {
  // expected-error@+1 {{failed to legalize operation 'pol.reset'}}
  pol.reset %a : !pol.arena
  return
}
