// Bytes of data files into columns: ids, floats, labels. src/memory/decode-layout.ts draws the plan; whatever is not
// plain ends a call, and the caller reads that row with the functions that are written to be read.
export { fingerprint64 } from "./decode/farmhash";
export { decodeCsv } from "./decode/csv";
export { decodeExamples } from "./decode/example";
export { readNumbers, readTimes } from "./decode/numbers-of";
export { pick32, pick64, readLists, readPresence, readRuns, spread32, spread64 } from "./decode/runs";
export { decodeSnappy } from "./decode/snappy";
export { findTexts, readTextIds, readTexts } from "./decode/texts-of";
export { decodeJson } from "./decode/json";
