/**
 * @file Picks the quickest build of the kernels that this engine runs rightly, once per process.
 *
 * Pool threads get the module, and with it what the self-test had compiled.
 */
import { MonolithError } from '../../../base/errors.js';
import { thisEngine } from './engine.js';
import { isKernelVariant, KERNEL_VARIANTS, type KernelVariant } from './kernel-variants.js';
import type { Asked, ChosenKernels } from './try-builds.js';

export interface KernelChoice {
  /** Takes this build and no other. Default: what the environment variable MONOLITH_KERNELS says, else the quickest. */
  readonly kernels?: KernelVariant | undefined;
  /** The build that is the same everywhere. */
  readonly deterministic?: boolean | undefined;
}

const VARIABLE = 'MONOLITH_KERNELS';
const chosen = new Map<string, Promise<ChosenKernels>>();

/** The kernels a session runs on; every later call of this process gets the same. */
export function chooseKernels(choice: KernelChoice = {}): Promise<ChosenKernels> {
  const asked = askedVariant(choice, process.env[VARIABLE]);
  const key = asked?.variant ?? 'best';
  let result = chosen.get(key);
  if (result === undefined) {
    result = choose(asked);
    chosen.set(key, result);
    result.catch(() => chosen.delete(key));
  }
  return result;
}

/** Loads what tries builds, with its reference kernels, when a build is first asked for. */
async function choose(asked: Asked | null): Promise<ChosenKernels> {
  const [{ tryBuilds }, { permitExperiment }] = await Promise.all([
    import('./try-builds.js'),
    import('./permit-experiment.js'),
  ]);
  return tryBuilds(thisEngine, asked, permitExperiment);
}

/** The variant somebody insists on, if any. */
export function askedVariant({ kernels, deterministic }: KernelChoice, variable: string | undefined): Asked | null {
  const named = kernels ?? (variable === '' ? undefined : variable);
  const by = kernels === undefined ? VARIABLE : 'the option kernels';
  if (named !== undefined && !isKernelVariant(named)) {
    const reason = `${by} names no build`;
    throw new MonolithError('ML_KERNELS', { variant: named, reason }, { hint: `it is ${KERNEL_VARIANTS.join(', ')}` });
  }
  if (deterministic) {
    if (named !== undefined && named !== 'plain') {
      const reason = `${by} asks for it, and a deterministic session runs on plain ones`;
      throw new MonolithError('ML_KERNELS', { variant: named, reason }, { hint: 'give one of the two' });
    }
    return { variant: 'plain', by: 'deterministic' };
  }
  return named === undefined ? null : { variant: named, by };
}
