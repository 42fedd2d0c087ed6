/** @file Lowerings of queues between runs: what they do is done around the run, by session/session-queues.ts. */
import { CloseQueue, Dequeue, Enqueue } from '../../../graph/tensor-queue.js';
import { registerLowering } from '../lowering.js';
import { lowerFeed } from './state.js';

registerLowering(Dequeue, lowerFeed, { phase: { runs: 'nothing' } });
registerLowering(Enqueue, () => {}, { phase: { runs: 'nothing' } });
registerLowering(CloseQueue, () => {}, { phase: { runs: 'nothing' } });
