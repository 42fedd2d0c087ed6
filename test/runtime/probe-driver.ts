/**
 * @file Has a script probe the wide kernels, in a process into which tap put nothing:
 * `probe-driver.js SCRIPT LIMIT_MS`.
 */
import { probeKernels } from '../../src/runtime/backends/wasm/probe-kernels.js';

const [script = '', limitMs = ''] = process.argv.slice(2);
// What a program may have for itself, and its probe must not get.
process.env.NODE_OPTIONS = '--no-warnings';
process.env.NODE_V8_COVERAGE = 'coverage';
console.log(JSON.stringify(await probeKernels('wide', { script, limitMs: Number(limitMs) })));
