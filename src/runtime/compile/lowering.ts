/**
 * @file Lowering: how ops become kernel calls.
 *
 * A type of op registers a function that is called with the op and with a context. What the context can do is in two
 * files more: `program-code.ts` has instructions, registers and buffers, `tensor-storage.ts` where tensors are.
 */
import { located, misfit, type Op, type OpDef, type Tensor } from '../../graph/graph.js';
import type { Mode } from '../../graph/mode.js';
import type { ColumnsAttrs } from '../../graph/ops/columns.js';
import type { CompileEnvironment, Cut } from './compile-environment.js';
import type { Destinations } from './destinations.js';
import { type LoweringTraits, setTraits } from './lowering-traits.js';
import type { Schedule } from './schedule.js';
import { TensorStorage } from './tensor-storage.js';

export type { CompileEnvironment, Cut, FeedUse, RaggedFeed, SlicePlan, StepUpdate } from './compile-environment.js';
export type { LoweringTraits, Phase } from './lowering-traits.js';
export type { LeasedBlocks, PerBatch, PerLease, RoutedBlocks, ThreadRange } from './program-code.js';
export type { Matrix, Storage } from './storage.js';

/** How an op becomes kernel calls. */
export type Lower<A> = (op: Op<A>, context: LoweringContext) => void;

const lowerings = new Map<OpDef<unknown>, Lower<unknown>>();

/** Says how ops of a type become kernel calls. Rooms above do so for ops of their own. */
export function registerLowering<A>(def: OpDef<A>, lower: Lower<A>, traits: LoweringTraits<A> = {}): void {
  setTraits(def, traits);
  lowerings.set(def as OpDef<unknown>, lower as Lower<unknown>);
}

/**
 * What the lowering of an op sees: the code of the program, the storage of tensors, and what is decided of other ops.
 */
export class LoweringContext extends TensorStorage {
  readonly ops: readonly Op[];
  /** Whether the program runs in mode `train`: dropout is off in any other. */
  readonly trains: boolean;
  readonly #lowered = new Set<Op>();
  readonly #shared = new Map<object, unknown>();

  constructor(
    environment: CompileEnvironment,
    schedule: Schedule,
    destinations: Destinations,
    { mode, cut }: { readonly mode: Mode; readonly cut?: Cut | undefined },
  ) {
    super(environment, schedule, destinations, cut);
    this.ops = schedule.order;
    this.trains = mode === 'train';
  }

  /**
   * Lowers an op once, with instructions named after it. A lowering may call it for ops it needs early. What fails
   * names the op and the line that made it.
   */
  lower(op: Op): void {
    if (this.#lowered.has(op)) return;
    this.#lowered.add(op);
    const outer = this.opAtHand;
    this.opAtHand = op;
    try {
      const lower = lowerings.get(op.def);
      if (lower === undefined) throw misfit(op, `the runtime cannot run ops of type ${op.type}`);
      lower(op, this);
    } catch (error) {
      throw located(error, op);
    }
    this.opAtHand = outer;
  }

  /** What the lowerings of one program share under a key, made on first use. */
  shared<T>(key: object, make: () => T): T {
    if (!this.#shared.has(key)) this.#shared.set(key, make());
    return this.#shared.get(key) as T;
  }

  /** The Columns that the op of `tensor` writes one by one, or undefined when it writes the tensor. */
  partsOf(tensor: Tensor): readonly Op<ColumnsAttrs>[] | undefined {
    return this.destinations.partsOf(tensor);
  }

  /** The ops that use a tensor; undefined when somebody fetches it. */
  usersOf(tensor: Tensor): readonly Op[] | undefined {
    return this.destinations.usersOf(tensor);
  }

  /** Whether the slice code of two ops runs in the same stage. */
  runTogether(a: Op, b: Op): boolean {
    return this.schedule.of(a).slice === this.schedule.of(b).slice;
  }

  /** Whether the thread code of two ops does. */
  finishTogether(a: Op, b: Op): boolean {
    return this.schedule.of(a).thread === this.schedule.of(b).thread;
  }

  /** The op that alone uses a tensor; undefined when there are others, or somebody fetches it. */
  onlyUserOf(tensor: Tensor): Op | undefined {
    return this.destinations.onlyUserOf(tensor);
  }

  /** Whether nobody puts this assembled tensor together: who uses it takes its parts. */
  isLoose(tensor: Tensor): boolean {
    return this.destinations.isLoose(tensor);
  }
}
