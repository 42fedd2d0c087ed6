// The way out of WebAssembly in the middle of a step: what one instance cannot do because it sees one memory only.
// A call costs some hundred nanoseconds, so it is made per table and slice, never per row.
@external("env", "host")
export declare function host(call: u32, a: u32, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32): i32;
