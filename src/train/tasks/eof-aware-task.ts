/**
 * @file A task whose batches say whether they are the last: workers in step then all stop after the same one
 * (native_training/sync_training_hooks, EofAwareTask).
 *
 * The flag is a feature of the batch, so it goes through every queue with it. It is known one batch ahead.
 */
import { MonolithError } from '../../base/errors.js';
import { type Positioned, positionThrough } from '../../base/input-state.js';
import type { BatchInput, BatchSource, OpenBatches } from '../../data/batch-source.js';
import { defineSchema, dense, type Features } from '../../data/schema.js';
import { addToCollections } from '../../graph/collections.js';
import type { Tensor } from '../../graph/graph.js';
import { reduceMean } from '../../graph/ops/reductions.js';
import { pointerWords } from '../../runtime/compile/pointer-words.js';
import type { FetchValue } from '../../runtime/session/fetch.js';
import type { Fetch, Session } from '../../runtime/session/session.js';
import { coreOf } from '../../runtime/session/session-handle.js';
import type { RunContext, TrainHook } from '../hooks/hook.js';
import type { Mode } from '../task-params.js';
import { isDryRunOrExporting } from './build-context.js';
import { type InputFn, type ModelFn, NativeTask, type ServingInputReceiverFn, type TaskInput } from './native-task.js';
import { taskSource } from './task-source.js';

/** Collection of the flag, and its feature beside those of the task. */
export const EOF_KEY = '__EofAwareTask_eof';
/** Of an input that is one value: it is called 1 and the flag 2. */
const VALUE_KEY = '1';
const VALUE_EOF_KEY = '2';

/** What workers in step tell each other; of one worker, what it says itself. */
export interface FlagGather {
  readonly size: number;
  /** The values of all workers, in the order of their ranks. */
  allgather(values: Float32Array): Promise<Float32Array>;
}

const ALONE: FlagGather = { size: 1, allgather: (values) => Promise.resolve(values) };

/**
 * Wraps a task. Without the data service it is a plain pass-through, as in the reference.
 *
 * ```ts
 * const training = new CpuTraining(config, new EofAwareTask(task, true));
 * ```
 */
export class EofAwareTask extends NativeTask {
  readonly task: NativeTask;
  readonly #useDataservice: boolean;
  readonly #gather: FlagGather;

  constructor(task: NativeTask, useDataservice: boolean | null = false, gather: FlagGather = ALONE) {
    super(task.p);
    this.task = task;
    this.#useDataservice = useDataservice === true;
    this.#gather = gather;
  }

  override get ctx() {
    return this.task.ctx;
  }

  createInputFn(mode: Mode): InputFn {
    const inputFn = this.task.createInputFn(mode);
    if (!this.#useDataservice) return inputFn;
    return () => withEof(inputFn());
  }

  createModelFn(): ModelFn {
    const modelFn = this.task.createModelFn();
    if (!this.#useDataservice) return modelFn;
    return (given, mode, config) => {
      const key = eofKeyOf(Object.keys(given));
      const { [key]: eof, ...features } = given;
      const spec = modelFn(features, mode, config);
      if (eof === undefined || isDryRunOrExporting()) return spec;
      addToCollections(config.graph, EOF_KEY, eof);
      return { ...spec, trainingHooks: [new EofHook(eof, this.#gather), ...(spec.trainingHooks ?? [])] };
    };
  }

  override createServingInputReceiverFn(): ServingInputReceiverFn | null {
    return this.task.createServingInputReceiverFn();
  }
}

function eofKeyOf(names: readonly string[]): string {
  const isValue = names.every((name) => name === VALUE_KEY || name === VALUE_EOF_KEY);
  return isValue ? VALUE_EOF_KEY : EOF_KEY;
}

/** The input with the flag in each batch. */
export function withEof(input: TaskInput): TaskInput {
  const key = eofKeyOf(Object.keys(input.schema.features));
  const features: Features = { ...input.schema.features, [key]: dense.f32() };
  const schema = defineSchema(features);
  const inner = taskSource({ ...input, schema });
  const data: BatchSource = {
    open: async (session, options) => new LookAhead(await inner.open(session, options), session, key, options),
  };
  return { ...input, schema, data };
}

/** Takes one batch ahead, and points the flag of the one before to ones when there is none. */
class LookAhead implements BatchInput {
  readonly batchesAhead: number;
  readonly saveState?: Required<Positioned>['saveState'];
  readonly restoreState?: Required<Positioned>['restoreState'];
  readonly #input: BatchInput;
  readonly #session: Session;
  readonly #word: number;
  readonly #keepsOne: boolean;
  readonly #flags: { readonly zeros: number; readonly ones: number };
  #held: Promise<number | undefined> | undefined;
  /** Batches that came and were not handed on: the one that is held, or none at the end. */
  #came = 0;

  constructor(input: BatchInput, session: Session, key: string, { batchSize }: OpenBatches) {
    const { batchesAhead = 1 } = input;
    const core = coreOf(session);
    this.#input = input;
    this.#session = session;
    Object.assign(
      this,
      positionThrough(input, () => this.#came),
    );
    this.batchesAhead = Math.max(1, batchesAhead - 1);
    this.#keepsOne = batchesAhead < 2;
    this.#word = pointerWords(core.schema).get(key)!.word;
    this.#flags = core.resource(LookAhead, () => {
      const bytes = batchSize * 4;
      const zeros = core.arena.alloc(bytes, 'flags of the last batch');
      const ones = core.arena.alloc(bytes, 'flags of the last batch');
      core.views.f32.fill(0, zeros / 4, zeros / 4 + batchSize);
      core.views.f32.fill(1, ones / 4, ones / 4 + batchSize);
      return { zeros, ones };
    });
  }

  get begin() {
    return this.#input.begin;
  }

  async next(): Promise<number> {
    const batch = await (this.#held ?? this.#take());
    if (batch === undefined) throw new MonolithError('ML_OUT_OF_RANGE', { source: 'the data' });
    if (this.#keepsOne) {
      const reason = 'its input keeps one batch at a time, and the last one is known when the next is asked for';
      throw new MonolithError('ML_UNSUPPORTED', { what: 'EofAwareTask', reason });
    }
    this.#held = this.#take();
    const isLast = (await this.#held) === undefined;
    const { zeros, ones } = this.#flags;
    coreOf(this.#session).views.u32[batch / 4 + this.#word] = isLast ? ones : zeros;
    this.#came--;
    return batch;
  }

  async #take(): Promise<number | undefined> {
    try {
      const batch = await this.#input.next();
      this.#came++;
      return batch;
    } catch (error) {
      if (error instanceof MonolithError && error.code === 'ML_OUT_OF_RANGE') return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#held?.catch(() => undefined);
    await this.#input.close?.();
  }
}

/** Stops all workers after the step at which the first of them has had its last batch. */
class EofHook implements TrainHook {
  readonly #fetches: readonly Fetch[];
  readonly #gather: FlagGather;

  constructor(eof: Tensor, gather: FlagGather) {
    this.#fetches = [reduceMean(eof, { name: 'eof_of_batch' })];
    this.#gather = gather;
  }

  /** Alone, the end of the input stops it anyway. */
  quietSteps(): number {
    return this.#gather.size === 1 ? Number.POSITIVE_INFINITY : 1;
  }

  beforeRun(): readonly Fetch[] {
    return this.#fetches;
  }

  async afterRun({ requestStop }: RunContext, [flag]: readonly FetchValue[]): Promise<void> {
    const flags = await this.#gather.allgather(Float32Array.of(Number(flag)));
    if (flags.some((value) => value > 0)) requestStop();
  }
}
