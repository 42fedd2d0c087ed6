/** @file The elements of queues of a graph as the input of a trainer, so that its steps run in groups. */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import type { InputState } from '../base/input-state.js';
import type { EnqueuedQueue } from '../queue/fifo-queue.js';
import type { Session } from '../runtime/session/session.js';
import { SourcePosition } from './hooks/source-position.js';
import type { TrainInput } from './train-input.js';

export interface QueueInputOptions {
  /** Elements that are taken and not given back yet: the longest group of steps. Default: 4. */
  readonly batchesAhead?: number;
}

/**
 * What is taken out of `queue`, which an EnqueueHook fills; its end is the end of the input. Its position is that of
 * the hook's source, without what waits in the queue.
 *
 * ```ts
 * await trainer.train((session) => queueInput(session, queue));
 * ```
 */
export function queueInput(session: Session, queue: EnqueuedQueue, options: QueueInputOptions = {}): TrainInput {
  const { batchesAhead = 4 } = checkOptions('queueInput', options, ['batchesAhead']);
  if (!Number.isInteger(batchesAhead) || batchesAhead < 1) {
    throw new MonolithError('ML_FLAG', { flag: 'batchesAhead', reason: `${batchesAhead} is not a number of batches` });
  }
  const lent: number[] = [];
  const keep = (batch: number) => {
    lent.push(batch);
    return batch;
  };
  const position = SourcePosition.of(session, queue.queues[0]!);
  return {
    batchesAhead,
    ...(position !== undefined && {
      saveState: (unused: number) => position.saveState(unused),
      // The hook has set the source already: it fills the queue from the beginning on.
      restoreState: (state: InputState) => position.checkBegin(state),
    }),
    next() {
      if (lent.length === batchesAhead) session.giveElement(lent.shift()!);
      const taken = session.takeElement(queue.queues);
      return typeof taken === 'number' ? keep(taken) : taken.then(keep);
    },
  };
}
