/**
 * @file A long-lived thread that answers method calls, such as the data reader.
 *
 * Comlink carries the calls. Added to it here: errors keep their code and cause on the way, every call has a limit,
 * and the death of the thread ends all calls under way with ML_WORKER instead of leaving them open.
 */
import { type MessagePort, parentPort, Worker } from 'node:worker_threads';
import type { Endpoint, Remote, TransferHandler } from 'comlink';
import { fromWireError, toWireError, type WireError } from '../../base/error-wire.js';
import { MonolithError } from '../../base/errors.js';
import { lazyModule } from '../../base/lazy-module.js';
import { startError, threadError } from './thread-error.js';

type Comlink = typeof import('comlink');
const loadComlink = lazyModule<Comlink>('comlink');
const nodeEndpoint = lazyModule<(port: MessagePort | Worker) => Endpoint>('comlink/dist/umd/node-adapter.js');
let errorsAreWhole = false;

/** Comlink, with errors that cross whole. */
function comlink(): Comlink {
  const loaded = loadComlink();
  if (!errorsAreWhole) carryWholeErrors(loaded);
  errorsAreWhole = true;
  return loaded;
}

/** Comlink's own handler for thrown values sends message and stack only. */
function carryWholeErrors({ transferHandlers }: Comlink): void {
  const handler = transferHandlers.get('throw');
  if (handler === undefined)
    throw new MonolithError('ML_WORKER', { thread: 'main', reason: 'comlink lost its handler' });
  const whole: TransferHandler<{ value: unknown }, WireError> = {
    canHandle: (value): value is { value: unknown } => handler.canHandle(value),
    serialize: ({ value }) => [toWireError(value), []],
    deserialize: (wire) => {
      throw fromWireError(wire);
    },
  };
  transferHandlers.set('throw', whole);
}

/** In the thread: answers calls with the methods of `service`. */
export function serve(service: object): void {
  if (parentPort === null) throw new MonolithError('ML_WORKER', { thread: 'main', reason: 'a service needs a thread' });
  comlink().expose(service, nodeEndpoint()(parentPort));
}

export interface ServiceThreadOptions {
  readonly name: string;
  /** Module of the thread; it calls `serve`. */
  readonly entry: URL;
  readonly workerData: unknown;
  /** Called once if the thread ends before `close`. */
  readonly onDeath?: (error: MonolithError) => void;
}

function startWorker(entry: URL, name: string, workerData: unknown): Worker {
  try {
    // No flags of this process: a loader of the parent has no business in the thread, and V8's flags hold anyway.
    return new Worker(entry, { name, workerData, execArgv: [] });
  } catch (cause) {
    throw startError(name, cause) ?? cause;
  }
}

export class ServiceThread<Service extends object> {
  readonly name: string;
  readonly #worker: Worker;
  readonly #remote: Remote<Service>;
  readonly #rejects = new Set<(error: MonolithError) => void>();
  #death: MonolithError | null = null;
  #closing: Promise<void> | null = null;

  constructor({ name, entry, workerData, onDeath }: ServiceThreadOptions) {
    this.name = name;
    this.#worker = startWorker(entry, name, workerData);
    this.#remote = comlink().wrap<Service>(nodeEndpoint()(this.#worker));
    let cause: unknown;
    this.#worker.on('error', (error) => {
      cause = error;
    });
    this.#worker.on('exit', (code) => {
      const closed = this.#closing !== null;
      const reason = closed ? 'it was closed' : `it ended with code ${code}`;
      const known = !closed && cause !== undefined;
      this.#death = known ? threadError(name, cause) : new MonolithError('ML_WORKER', { thread: name, reason });
      for (const reject of this.#rejects) reject(this.#death);
      if (!closed) onDeath?.(this.#death);
    });
  }

  /** Why the thread is gone, or null while it lives. */
  get death(): MonolithError | null {
    return this.#death;
  }

  /** Makes one call, as in `thread.call((service) => service.load(), 1000)`. */
  async call<T>(request: (service: Remote<Service>) => Promise<T>, timeoutMs: number): Promise<T> {
    if (this.#death !== null) throw this.#death;
    let settle = (): void => {};
    const failed = new Promise<never>((_, reject) => {
      const what = `service thread ${this.name}`;
      const timer = setTimeout(() => reject(new MonolithError('ML_TIMEOUT', { what, timeoutMs })), timeoutMs);
      this.#rejects.add(reject);
      settle = () => {
        clearTimeout(timer);
        this.#rejects.delete(reject);
      };
    });
    try {
      return await Promise.race([request(this.#remote), failed]);
    } finally {
      settle();
    }
  }

  /** Ends the thread, whatever it is doing, and waits until it is gone. */
  close(): Promise<void> {
    this.#closing ??= this.#worker.terminate().then(() => {});
    return this.#closing;
  }
}
