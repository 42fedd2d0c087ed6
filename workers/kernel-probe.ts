/**
 * @file Entry of a process that tries a build of the kernels which could end it, and says on one line what it found.
 */
import { reportProbe } from '../src/runtime/backends/wasm/report-probe.js';

process.stdout.write(`${JSON.stringify(await reportProbe(process.argv[2]))}\n`);
