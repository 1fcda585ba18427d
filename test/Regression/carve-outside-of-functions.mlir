// RUN: pol-opt %s --convert-to-llvm --verify-diagnostics --allow-unregistered-dialect \
// RUN:   -o /dev/null

// There is no entry block to put the extents in: this crashed.

%a = "test.space"() : () -> !pol.arena
%n = "test.size"() : () -> index
// expected-error@+1 {{failed to legalize operation 'pol.carve'}}
%m, %ok = pol.carve %a[%n] : !pol.arena -> memref<?xf32>
