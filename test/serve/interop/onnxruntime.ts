/** @file onnxruntime-web, from the npm registry when it is first asked for, kept in node_modules/.cache. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { npmPackage } from '../../support/npm-package.js';

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
  const found = await npmPackage('onnxruntime-web', '1.30.0');
  if ('reason' in found) return found.reason;
  const ort = createRequire(join(found.folder, 'package.json'))('onnxruntime-web') as Ort;
  ort.env.wasm.numThreads = 1;
  ort.env.logLevel = 'error';
  return ort;
}
