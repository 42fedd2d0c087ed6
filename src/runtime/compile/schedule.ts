/**
 * @file Decides in which stage of a step each op runs.
 *
 * Stages are numbered: even ones run slice code, odd ones thread code, and a barrier stands between two that have any.
 * An op goes to the earliest stage its inputs allow. Updates of variables and tables come last, all in one stage, so
 * that everything else of the step sees the old values; what was asked to run after an update, by a control dependency,
 * comes in a further round of stages. Only the phases that ops declare are looked at: see `Phase`.
 */
import { CachedValue } from '../../graph/cached-variables.js';
import { type Op, type OpDef, sameShape, type Tensor } from '../../graph/graph.js';
import { Variable } from '../../graph/ops/state.js';
import { type Phase, phaseOf } from './lowering-traits.js';

export interface Stages {
  readonly slice: number;
  readonly thread: number;
}

/** The first stage in which the output of an op can be read: by the same slice, by other slices, by threads. */
interface Ready {
  readonly slice: number;
  readonly cross: number;
  readonly thread: number;
  readonly range: number;
}

/** The rounds that what depends on an op may be in: updates of one round run together. */
interface Round {
  readonly compute: number;
  readonly update: number;
}

const AT_ONCE: Ready = { slice: 0, cross: 0, thread: 1, range: 1 };

export class Schedule {
  readonly #stages = new Map<Op, Stages>();
  readonly #ready = new Map<Op, Ready>();
  readonly #phases = new Map<Op, Phase>();
  /** Ops in an order in which they can be lowered: by stage, and as they were made. */
  readonly order: readonly Op[];

  /** `ops` come after their inputs. */
  constructor(ops: readonly Op[]) {
    for (const op of ops) this.#phases.set(op, phaseOf(op));
    let base = 0;
    for (const members of this.#rounds(ops)) base = this.#placeRound(members, base);
    const first = (op: Op) => {
      const { slice, thread } = this.#stages.get(op)!;
      const phase = this.#phases.get(op)!;
      return phase.runs === 'threads' || (phase.runs === 'update' && !phase.slicesFirst) ? thread : slice;
    };
    this.order = [...ops].sort((a, b) => first(a) - first(b));
  }

  /** Stages of an op's code. Ops outside the program that a lowering needs have no code. */
  of(op: Op): Stages {
    return this.#stages.get(op) ?? { slice: 0, thread: 1 };
  }

  /** Inputs that are in the program: of an IfTraining only one is. */
  #inputs(op: Op): readonly Tensor[] {
    return op.inputs.filter((input) => this.#phases.has(input.op));
  }

  /** Splits ops by how many updates must come before them. */
  #rounds(ops: readonly Op[]): Op[][] {
    const after = new Map<Op, Round>();
    const rounds: Op[][] = [];
    for (const op of ops) {
      const inputs = this.#inputs(op).map((input) => after.get(input.op)!.compute);
      const control = op.controlInputs.map((before) => after.get(before)!);
      const compute = Math.max(0, ...inputs, ...control.map((round) => round.compute));
      // An update that was asked to run after others runs with them: order among updates needs no barrier.
      const update = Math.max(0, ...inputs, ...control.map((round) => round.update));
      const { runs } = this.#phases.get(op)!;
      const member = runs === 'update' ? update : compute;
      const members = rounds[member] ?? [];
      members.push(op);
      rounds[member] = members;
      after.set(op, roundAfter(runs, compute, update));
    }
    return rounds;
  }

  #placeRound(ops: readonly Op[], base: number): number {
    let last = base + 1;
    const updates: Op[] = [];
    for (const op of ops) {
      const phase = this.#phases.get(op)!;
      if (phase.runs === 'update') updates.push(op);
      else last = Math.max(last, this.#place(op, phase, base));
    }
    const slices = updates.map((op) => {
      const inputs = op.inputs.map((input) => this.#ready.get(input.op)!);
      const slice = even(Math.max(base, ...inputs.map((ready) => ready.slice)));
      const { reads, slicesFirst } = this.#phases.get(op) as Extract<Phase, { runs: 'update' }>;
      const wanted = op.inputs.map((input) => threadStage(this.#ready.get(input.op)!, op, input, reads));
      last = Math.max(last, ...wanted, slicesFirst ? slice + 1 : 0);
      return slice;
    });
    last = odd(last);
    updates.forEach((op, index) => {
      this.#stages.set(op, { slice: slices[index]!, thread: last });
      this.#ready.set(op, AT_ONCE);
    });
    return last + 1;
  }

  /** Places an op that is no update, and gives the first stage in which updates can follow it. */
  #place(op: Op, phase: Exclude<Phase, { runs: 'update' }>, base: number): number {
    const ready = (before: Op) => this.#ready.get(before)!;
    const all = [...this.#inputs(op).map((input) => input.op), ...op.controlInputs].map(ready);
    switch (phase.runs) {
      case 'nothing': {
        const max = (name: keyof Ready) => Math.max(AT_ONCE[name], ...all.map((each) => each[name]));
        this.#stages.set(op, { slice: max('slice'), thread: max('thread') });
        this.#ready.set(op, { slice: max('slice'), cross: max('cross'), thread: max('thread'), range: max('range') });
        return 0;
      }
      case 'slices': {
        const slice = even(Math.max(base, ...all.map((each) => (phase.crosses ? each.cross : each.slice))));
        this.#stages.set(op, { slice, thread: slice + 1 });
        this.#ready.set(op, { slice, cross: slice + 2, thread: slice + 1, range: slice + 1 });
        return slice + 1;
      }
      case 'threads': {
        const control = op.controlInputs.map((before) => ready(before).thread);
        const wanted = op.inputs.map((input) => threadStage(ready(input.op), op, input, phase.reads));
        const thread = odd(Math.max(base, ...control, ...wanted));
        const shared = phase.gives === 'copy' ? thread : thread + 2;
        const range = phase.gives === 'range' ? thread : shared;
        this.#stages.set(op, { slice: thread - 1, thread });
        this.#ready.set(op, { slice: thread + 1, cross: thread + 1, thread: shared, range });
        // An update in the same stage could change the variable while another thread still reads it.
        return op.inputs.some(isVariable) ? thread + 2 : thread;
      }
      default:
        return phase satisfies never;
    }
  }
}

function roundAfter(runs: Phase['runs'], compute: number, update: number): Round {
  if (runs === 'update') return { compute: update + 1, update };
  return runs === 'nothing' ? { compute, update } : { compute, update: compute };
}

/** The first stage in which thread code of `op` can read `input`. */
function threadStage(ready: Ready, op: Op, input: Tensor, reads: 'range' | 'ranges' | undefined): number {
  const alike = reads === 'range' && sameShape(input.spec.shape, op.inputs[0]!.spec.shape);
  const ranged = alike || reads === 'ranges';
  return ranged ? ready.range : ready.thread;
}

function isVariable(tensor: Tensor): boolean {
  const { def } = tensor.op;
  return def === (Variable as OpDef<unknown>) || def === (CachedValue as OpDef<unknown>);
}

const even = (stage: number) => stage + (stage & 1);
const odd = (stage: number) => stage + (1 - (stage & 1));
