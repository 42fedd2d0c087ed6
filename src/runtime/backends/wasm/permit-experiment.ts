/**
 * @file Says whether a build of the kernels that takes an experiment of V8 may be tried in this process.
 *
 * Yes where it is known to be good; elsewhere a process of its own tries it, and the answer is remembered for this
 * version of V8, this CPU and these kernels. Where nothing can be remembered every start would have to probe: the safer
 * build is taken then, except by those who ask for one by name.
 */

import { messageOf } from '../../../base/errors.js';
import { thisCacheDir } from '../../../base/files/cache-dir.js';
import type { Engine } from './engine.js';
import { isKnownGood, type Refused, refused } from './kernel-experiments.js';
import type { KernelVariant } from './kernel-variants.js';
import { type ProbeAnswer, ProbeAnswers } from './probe-answers.js';
import { type NoProbe, PROBE_VARIABLE, probeKernels } from './probe-kernels.js';
import { questionOf } from './probe-question.js';
import type { Permit } from './try-builds.js';

export interface PermitTools {
  readonly answers: ProbeAnswers;
  readonly probe: (variant: KernelVariant) => Promise<ProbeAnswer | NoProbe>;
}

export const permitExperiment: Permit = (engine, variant, wish) => {
  if (isKnownGood(engine, variant)) return Promise.resolve(null);
  if (process.env[PROBE_VARIABLE] !== undefined) return Promise.resolve(refused('this process is a probe itself'));
  return permitWith({ answers: new ProbeAnswers(thisCacheDir()), probe: probeKernels })(engine, variant, wish);
};

/** A permit by probes and what they said before. */
export function permitWith({ answers, probe }: PermitTools): Permit {
  return async (engine, variant, { isAsked }) => {
    if (isKnownGood(engine, variant)) return null;
    const question = questionOf(engine, variant);
    const remembered = answers.read(question);
    const verdict = (answer: ProbeAnswer | NoProbe) => refusalOf(engine, answer, answers.fileOf(question));
    if (remembered !== null) return verdict(remembered);
    const forgetful = await answers.refusal();
    if (forgetful !== null && !isAsked) return notRemembered(engine, variant, forgetful);
    const answer = await probe(variant);
    if (forgetful !== null || answer.outcome === 'failed') return verdict(answer);
    try {
      answers.write(question, answer);
    } catch (cause) {
      if (!isAsked) return notRemembered(engine, variant, messageOf(cause));
    }
    return verdict(answer);
  };
}

/** What an answer means: null, or why the build is not tried. */
function refusalOf(
  { version }: Engine,
  { outcome, detail }: ProbeAnswer | NoProbe,
  file: string | null,
): Refused | null {
  const again = file === null ? null : `training works, with slower products; to have it probed again remove ${file}`;
  switch (outcome) {
    case 'good':
      return null;
    case 'wrong':
      return refused(`a probe on V8 ${version} found it wrong: ${detail}`, again);
    case 'died':
      return refused(`a probe on V8 ${version} died: ${detail}`, again);
    case 'hung':
      return refused(`a probe on V8 ${version} did not end within ${detail}`, again);
    case 'failed':
      return refused(`it could not be probed on V8 ${version}: ${detail}`, 'training works, with slower products');
    default:
      outcome satisfies never;
      throw new Error(`outcome ${outcome}`);
  }
}

function notRemembered({ version }: Engine, variant: KernelVariant, reason: string): Refused {
  return refused(
    `V8 ${version} has to be probed for it once, and that cannot be remembered: ${reason}`,
    'training works, with slower products; make the folder writable, name another in XDG_CACHE_HOME, ' +
      `or set MONOLITH_KERNELS=${variant} to probe at every start`,
  );
}
