/// <reference types="node" preserve="true" />
/** @file `monolith-ts/trace`: writes what a session recorded, reads it back, sums it up. */
export { type ChromeTraceReport, writeChromeTrace } from '../trace/chrome-trace.js';
export { formatTraceSummary } from '../trace/format-trace-summary.js';
export { summarizeTrace, type TraceSummary } from '../trace/trace-summary.js';
