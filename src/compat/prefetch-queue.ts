/** @file Names of native_training/prefetch_queue. */
export { enqueueDictsWithQueueReturn } from '../queue/enqueue-dicts.js';
export {
  type EnqueuedQueue,
  FIFOQueue,
  GPUCompatiblePaddingFIFOQueue,
  MultiFIFOQueue,
  type PaddingQueueOptions,
} from '../queue/fifo-queue.js';
export { PrefetchQueue } from '../queue/prefetch-queue.js';
export { AsyncFunctionMgr, AsyncPushHook, type AsyncTarget } from '../train/async-function-mgr.js';
export { EnqueueHook } from '../train/hooks/enqueue-hook.js';
export { MultiQueueRunner } from '../train/hooks/multi-queue-runner.js';
