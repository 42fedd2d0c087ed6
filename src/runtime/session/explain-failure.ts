/** @file What a step that failed on a thread is told as: the error for the status its kernels gave. */
import { MonolithError } from '../../base/errors.js';
import type { Graph } from '../../graph/graph.js';
import type { BatchSchema } from '../../memory/batch.js';
import { STATUS } from '../../memory/program-layout.js';
import { UPDATE_RESULT } from '../../memory/table-layout.js';
import type { TraceNames } from '../../trace/trace-names.js';
import type { JoinResult } from '../pool/protocol.js';

/** What there is to know of the session. */
export interface FailedSession {
  readonly graph: Graph;
  readonly feeds: BatchSchema;
  readonly batchSize: number;
  readonly globalStep: number;
  readonly trace: { readonly names: TraceNames };
}

export function explainFailure(
  session: FailedSession,
  result: Extract<JoinResult, { kind: 'step-failed' }>,
  thread: number,
): MonolithError {
  const { status, failedAt, failedDetail } = result;
  if (status === STATUS.batchRows) {
    return new MonolithError('ML_FEED', {
      name: 'batch',
      reason: `${failedAt} rows, the session holds ${session.batchSize}`,
    });
  }
  if (status === STATUS.batchValues) {
    const name = session.feeds[failedAt]?.name ?? `feed ${failedAt}`;
    return new MonolithError(
      'ML_FEED',
      { name, reason: `${failedDetail} values in one slice of the batch are more than was planned for` },
      { hint: 'raise valuesPerRow of its placeholder' },
    );
  }
  const name = session.trace.names.get(failedAt).name;
  const place = placeOf(session, name);
  if (failedDetail === UPDATE_RESULT.badGradient) {
    return new MonolithError(
      'ML_GRADIENT',
      { table: name.replace(/^.*update\//, ''), where: `a row of this step, worker thread ${thread}`, ...place },
      { hint: "lower the learning rate, clip gradients, or give the session's tablePolicy badGradients: 'skip'" },
    );
  }
  if (failedDetail === UPDATE_RESULT.lostLock) {
    return new MonolithError('ML_TIMEOUT', { what: `lock of touched pairs, ${name}`, timeoutMs: 30_000 });
  }
  if (failedDetail === UPDATE_RESULT.refused) return new MonolithError('ML_GLOBAL_STEP', { step: session.globalStep });
  return new MonolithError(
    'ML_MEMORY',
    {
      name: `${name.replace(/^.*update\//, 'table ')} (worker thread ${thread})`,
      bytes: 'more',
      free: 'none',
      ...place,
    },
    {
      hint:
        'give tables more memory (--table-memory, tableBytes) ' +
        'or tell them what to do then (--when-full, tablePolicy)',
    },
  );
}

/** The line that made the op of an instruction, which is named `kernel op`. */
function placeOf({ graph }: FailedSession, instruction: string): { readonly place?: string } {
  const name = instruction.slice(instruction.indexOf(' ') + 1);
  const place = graph.ops.find((op) => op.name === name)?.place;
  return place === undefined ? {} : { place };
}
