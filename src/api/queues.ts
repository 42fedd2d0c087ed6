/** @file Elements made ahead of their use, and functions that run beside the next step. `queues` of the package. */
export { AsyncQueue, type AsyncQueueOptions } from '../base/async-queue.js';
export { enqueueDictsWithQueueReturn } from '../queue/enqueue-dicts.js';
export {
  type EnqueuedQueue,
  FIFOQueue,
  GPUCompatiblePaddingFIFOQueue,
  MultiFIFOQueue,
  type PaddingQueueOptions,
} from '../queue/fifo-queue.js';
export { enqueueAll, prefetch } from '../queue/prefetch.js';
export {
  type DequeueOptions,
  type DeviceRagged,
  type EnqueueOptions,
  PrefetchQueue,
  type PrefetchQueueOptions,
  type QueueTensor,
} from '../queue/prefetch-queue.js';
export { AsyncFunctionMgr, type AsyncTarget } from '../train/async-function-mgr.js';
export { type QueueInputOptions, queueInput } from '../train/queue-input.js';
