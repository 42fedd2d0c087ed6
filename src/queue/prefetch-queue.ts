/**
 * @file Bounded queue of nested tensors, made ahead of their use. Tensors stay where they are: on the host, or on the
 * GPU.
 *
 * Mirrors native_training/prefetch_queue: _FIFOQueue, _MultiFIFOQueue and enqueue_dicts_with_queue_return. Upstream
 * splits the tensors of a structure over a queue per device and merges them again; here an element is one item, whose
 * device tensors are in a slot of device memory, so the two cannot fall out of step.
 */

import { AsyncQueue } from '../base/async-queue.js';
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { DeviceTensor } from '../runtime/backends/cuda/device-tensor.js';
import type { CudaDriver } from '../runtime/backends/cuda/driver.js';
import type { CudaStream } from '../runtime/backends/cuda/stream.js';
import { type LeafKinds, NestedTensors, TENSOR_LEAVES } from '../tensor/nested.js';
import type { RaggedTensor } from '../tensor/ragged-tensor.js';
import { type DType, Tensor } from '../tensor/tensor.js';
import { type DeviceSlot, DeviceSlots } from './device-slots.js';

export interface PrefetchQueueOptions {
  /** Elements that wait at the most. Default: 1. */
  readonly capacity?: number;
  readonly name?: string;
  /** For tensors on a GPU. */
  readonly driver?: CudaDriver;
  /** `gpu` copies every tensor to the GPU, `keep` leaves each where it is. Default: `keep`. */
  readonly place?: 'keep' | 'gpu';
  readonly timeoutMs?: number;
}

export interface EnqueueOptions {
  /** Where tensors on the GPU are made; without it they are there already. */
  readonly stream?: CudaStream;
}

export interface DequeueOptions {
  /** Where the tensors are to be used. Work that is put there afterwards finds them; nobody waits for the copies. */
  readonly stream?: CudaStream;
  /** `cpu` gives copies on the host. */
  readonly to?: 'cpu';
}

export type QueueTensor = Tensor | DeviceTensor;

/** Values and row splits that are not both on the host: a ragged tensor of device memory. */
export interface DeviceRagged {
  readonly values: QueueTensor;
  readonly rowSplits: QueueTensor;
}

interface Element {
  readonly structure: NestedTensors<QueueTensor, RaggedTensor>;
  readonly tensors: QueueTensor[];
  /** Which of the tensors are in the slot. */
  readonly inSlot: readonly number[];
  readonly slot: DeviceSlot | undefined;
}

const LEAVES: LeafKinds<QueueTensor, RaggedTensor> = {
  ...TENSOR_LEAVES,
  isTensor: (leaf): leaf is QueueTensor => leaf instanceof Tensor || leaf instanceof DeviceTensor,
  unflatten: (values, rowSplits) => TENSOR_LEAVES.unflatten(values as Tensor, rowSplits as Tensor),
};

/**
 * A bounded queue of nested tensors, in slots on the host or on a GPU.
 *
 * ```ts
 * const queue = new PrefetchQueue({ capacity: 2, driver, place: 'gpu' });
 * await queue.enqueue({ ids, weights: [w, null] });
 * const { ids, weights } = await queue.dequeue({ stream });
 * ```
 */
export class PrefetchQueue<N = unknown> {
  readonly #queue: AsyncQueue<Element>;
  readonly #options: PrefetchQueueOptions;
  #slots: DeviceSlots | undefined;
  #dtypes: readonly DType[] | undefined;
  /** What was dequeued last: its slot is in use until the next one is dequeued. */
  #lent: { readonly slot: DeviceSlot; readonly stream: CudaStream | undefined } | undefined;
  #lastIn: Promise<unknown> = Promise.resolve();
  #lastOut: Promise<unknown> = Promise.resolve();

  constructor(options: PrefetchQueueOptions = {}) {
    checkOptions('PrefetchQueue', options, ['capacity', 'name', 'driver', 'place', 'timeoutMs']);
    const { capacity = 1, name = 'prefetch_queue', timeoutMs } = options;
    this.#options = options;
    this.#queue = new AsyncQueue({ capacity, name, ...(timeoutMs !== undefined && { timeoutMs }) });
    if (options.place === 'gpu') this.#slotsOfDevice();
  }

  get name(): string {
    return this.#queue.name;
  }

  get capacity(): number {
    return this.#queue.capacity;
  }

  /** Elements that wait. */
  get size(): number {
    return this.#queue.size;
  }

  /**
   * Puts a tensor or lists and dictionaries of tensors, when there is room. Calls keep their order. Tensors on the host
   * are handed over, not copied, unless they go to the GPU; other leaves (numbers, strings, null) come out as they are.
   */
  async enqueue(nested: N, options: EnqueueOptions = {}): Promise<void> {
    checkOptions('PrefetchQueue.enqueue', options, ['stream']);
    const result = this.#lastIn.then(() => this.#enqueue(nested, options));
    this.#lastIn = result.catch(() => undefined);
    return result;
  }

  async #enqueue(nested: N, { stream }: EnqueueOptions): Promise<void> {
    const structure = new NestedTensors<QueueTensor, RaggedTensor>(nested, LEAVES);
    const tensors = structure.getTensors();
    this.#check(tensors);
    await this.#queue.reserve();
    const toDevice = this.#options.place === 'gpu';
    const inSlot = tensors.flatMap((tensor, index) => (toDevice || tensor instanceof DeviceTensor ? [index] : []));
    let slot: DeviceSlot | undefined;
    try {
      slot = inSlot.length > 0 ? this.#slotsOfDevice().take() : undefined;
      const copies =
        (await slot?.fill(
          inSlot.map((index) => tensors[index]!),
          stream,
        )) ?? [];
      copies.forEach((copy, index) => {
        tensors[inSlot[index]!] = copy;
      });
      this.#queue.fill({ structure, tensors, inSlot, slot });
    } catch (thrown) {
      this.#queue.giveUp();
      if (slot !== undefined) this.#slots?.give(slot);
      throw thrown;
    }
  }

  /**
   * The oldest element, with every tensor where it was enqueued. Tensors on the GPU are lent: their memory is used
   * again after the next call, behind the work that is on `stream` by then. Fails with ML_OUT_OF_RANGE at the end of
   * the input.
   */
  async dequeue(options: DequeueOptions = {}): Promise<N> {
    checkOptions('PrefetchQueue.dequeue', options, ['stream', 'to']);
    const result = this.#lastOut.then(() => this.#dequeue(options));
    this.#lastOut = result.catch(() => undefined);
    return result;
  }

  async #dequeue({ stream, to }: DequeueOptions): Promise<N> {
    this.#takeBack();
    const { structure, tensors, inSlot, slot } = await this.#queue.take();
    if (slot !== undefined) {
      this.#lent = { slot, stream: to === 'cpu' ? undefined : stream };
      if (to === 'cpu') {
        const copies = await slot.toHost(inSlot.map((index) => tensors[index] as DeviceTensor));
        copies.forEach((copy, index) => {
          tensors[inSlot[index]!] = copy;
        });
        this.#takeBack();
      } else await slot.ready(stream);
    }
    return structure.mapResult<QueueTensor>(tensors, ragged) as N;
  }

  #takeBack(): void {
    if (this.#lent === undefined) return;
    const { slot, stream } = this.#lent;
    this.#lent = undefined;
    slot.release(stream);
    this.#slots?.give(slot);
  }

  /** No more elements are enqueued: what waits can still be dequeued. */
  close(): void {
    this.#queue.close();
  }

  /** As `close`; whoever dequeues gets the error once the rest is out. */
  fail(error: unknown): void {
    this.#queue.fail(error);
  }

  /** Drops what waits and frees the device memory. Tensors of it that were dequeued cannot be used any more. */
  destroy(): void {
    this.#queue.cancel();
    this.#lent = undefined;
    this.#slots?.destroy();
    this.#slots = undefined;
  }

  /** As many slots as elements can wait, one that is in use, and one that is being filled meanwhile. */
  #slotsOfDevice(): DeviceSlots {
    if (this.#slots !== undefined) return this.#slots;
    const { driver } = this.#options;
    if (driver === undefined || this.#queue.isClosed) {
      throw this.#misfit('tensors on a GPU need a queue that has its driver', 'pass `driver` to the queue');
    }
    this.#slots = new DeviceSlots(driver, this.capacity + 2);
    return this.#slots;
  }

  /** Elements of a queue are alike, as the dtypes of a queue upstream say. */
  #check(tensors: readonly QueueTensor[]): void {
    const dtypes = tensors.map(({ dtype }) => dtype);
    this.#dtypes ??= dtypes;
    if (String(dtypes) === String(this.#dtypes)) return;
    throw this.#misfit(
      `it has tensors of [${dtypes}], those before it had [${this.#dtypes}]`,
      'use a queue for each kind',
    );
  }

  #misfit(reason: string, hint: string): MonolithError {
    return new MonolithError('ML_QUEUE_ELEMENT', { queue: this.name, reason }, { hint });
  }
}

/** A ragged tensor again; one whose parts are on a GPU stays in parts. */
function ragged(values: QueueTensor, rowSplits: QueueTensor): RaggedTensor | DeviceRagged {
  const onHost = values instanceof Tensor && rowSplits instanceof Tensor;
  return onHost ? TENSOR_LEAVES.unflatten(values, rowSplits) : { values, rowSplits };
}
