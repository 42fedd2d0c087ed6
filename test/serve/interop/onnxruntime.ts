/** @file onnxruntime-web, from the npm registry when it is first asked for, kept in node_modules/.cache. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { npmCommand } from '../../support/npm.js';

const SPEC = 'onnxruntime-web@1.30.0';
const CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/monolith-onnxruntime', import.meta.url));
const LIMIT_MS = 300_000;

interface OrtTensor {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}
export interface Ort {
  readonly env: { logLevel?: string; readonly wasm: { numThreads: number } };
  readonly InferenceSession: {
    create(path: string): Promise<{
      readonly inputNames: readonly string[];
      readonly outputNames: readonly string[];
      run(feeds: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, OrtTensor>>>;
      release(): Promise<void>;
    }>;
  };
  readonly Tensor: new (type: string, data: Float32Array | BigInt64Array, dims: readonly number[]) => unknown;
}

/** The runtime, or why it cannot be had. */
export async function getOnnxRuntime(): Promise<Ort | string> {
  if (!existsSync(join(CACHE, 'node_modules/onnxruntime-web/package.json'))) {
    mkdirSync(CACHE, { recursive: true });
    const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
    const [command, ...args] = npmCommand();
    try {
      const all = [...args, 'install', ...flags, '--prefix', CACHE, SPEC];
      await promisify(execFile)(command, all, { cwd: CACHE, timeout: LIMIT_MS });
    } catch (cause) {
      return `npm install ${SPEC}: ${cause instanceof Error ? cause.message.slice(0, 300) : cause}`;
    }
  }
  const ort = createRequire(join(CACHE, 'package.json'))('onnxruntime-web') as Ort;
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'error';
  return ort;
}
