/**
 * @file Parameter sync as a training sees it: an interface that is filled elsewhere, since what serves comes after
 * training in the order of folders.
 */
import { MonolithError } from '../../base/errors.js';
import type { EstimatorModel } from '../estimator/estimator-model.js';
import type { TrainHook } from '../hooks/hook.js';
import type { SyncBackend } from './native-task-context.js';

/** Where a training says who serves it: nobody in particular, or servers that a cluster knows by these names. */
export interface SyncPlace {
  readonly modelDir: string;
  readonly bzid?: string | null;
  readonly baseName?: string | null;
  readonly unifiedServing?: boolean;
}

export interface ParameterSync {
  /** Who serves what is trained there. */
  backend(place: SyncPlace): SyncBackend;
  /** Pushes what steps change. */
  hook(
    backend: SyncBackend,
    psIndex: number,
    options: { readonly model: EstimatorModel; readonly everySecs?: number },
  ): TrainHook;
}

let provided: (() => Promise<ParameterSync>) | undefined;

/** Says what pushes parameters; it is loaded when the first training asks for it. */
export function provideParameterSync(load: () => Promise<ParameterSync>): void {
  provided = load;
}

/** ML_UNIMPLEMENTED where nothing pushes parameters. */
export async function parameterSync(): Promise<ParameterSync> {
  if (provided !== undefined) return provided();
  const hint = "import 'monolith-ts', which brings it";
  throw new MonolithError(
    'ML_UNIMPLEMENTED',
    { what: 'parameter sync', reason: 'nothing was said to push parameters' },
    { hint },
  );
}
