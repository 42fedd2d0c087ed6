// Everything kernels.wasm exports. Rules for every file here: plain functions over pointers and counts, no managed
// objects, no string or array literals (a data segment would be written again by every instance that joins the memory).
export * from "./compress";
export * from "./counts";
export * from "./decode";
export * from "./dense";
export * from "./dump";
export * from "./filter";
export * from "./heap";
export * from "./initialize";
export * from "./ops";
export * from "./optim";
export * from "./program";
export * from "./sparse";
export * from "./table";
export * from "./touched";
export * from "./touched-steal";
export * from "./trace";
