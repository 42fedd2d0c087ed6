/** @file Names of the options that are a backend's. Apart from load-backend.ts, which every thread imports. */
import { checkOptions } from '../../base/check-options.js';
import type { BackendOptions } from './load-backend.js';

export const BACKEND_OPTIONS = ['backend', 'cuda', 'useGpuEmbTable'] as const satisfies (keyof BackendOptions)[];

/** ML_OPTION for a name inside of them that there is not. */
export function checkBackendOptions({ cuda, useGpuEmbTable }: BackendOptions): void {
  if (cuda !== undefined) checkOptions('the session option cuda', cuda, ['driver', 'device', 'env']);
  if (typeof useGpuEmbTable === 'object') {
    checkOptions('the session option useGpuEmbTable', useGpuEmbTable, ['rows', 'grows']);
  }
}
