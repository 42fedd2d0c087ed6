// The one clock of the kernels: milliseconds of performance.now() of the thread that made the instance.
// A call leaves WebAssembly (tens of nanoseconds), so it is made per kernel call or phase, never per row.
@external("env", "now")
export declare function now(): f64;
