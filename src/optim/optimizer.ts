/**
 * @file Base of the optimizers of dense variables: gradients of a loss, slots, and the op that steps the variables.
 *
 * Mirrors tf.compat.v1.train.Optimizer. Slots are variables of the graph under TensorFlow's names, so checkpoints carry
 * them. What a kind of optimizer adds is its slots and how its step becomes kernel calls.
 */
import { checkOptions } from '../base/check-options.js';
import { MonolithError } from '../base/errors.js';
import { checkRate, type Rate } from '../base/rates/rate.js';
import { gradients } from '../graph/gradients.js';
import { elementCount, misfit, type Op, type OpDef, type Tensor } from '../graph/graph.js';
import { group, increment, VARIABLES, type VariableAttrs, variable } from '../graph/ops/state.js';
import { lowerLater } from '../runtime/compile/late-lowerings.js';
import { EmbeddingLookup } from '../sparse/steps/embedding-defs.js';
import { ApplyGradient, type LoweredStep, type StepLowering } from './apply-gradient-op.js';

lowerLater(() => import('./lower-apply-gradient.js'));

/** A gradient, if the loss depends on the variable, and the variable. */
export type GradientAndVariable = readonly [Tensor | undefined, Tensor];

export interface ApplyOptions {
  /** Counter that grows by one when all variables are stepped. */
  readonly globalStep?: Tensor;
  /** `gradient += weightDecay * variable`, after any clipping. */
  readonly weightDecay?: number;
  /** Replaces the optimizer's own rate. */
  readonly learningRate?: Rate;
  readonly name?: string;
}

export interface MinimizeOptions extends ApplyOptions {
  /** Default: all trainable variables of the graph. */
  readonly varList?: readonly Tensor[];
  /** Changes the gradients before they are applied: clipping. */
  readonly clip?: (gradsAndVars: readonly GradientAndVariable[]) => readonly GradientAndVariable[];
}

/** A slot of a variable: what it is asked for by, what its name ends in, its shape if it is not the variable's. */
export interface SlotSpec {
  readonly slot: string;
  readonly suffix: string;
  readonly shape?: readonly number[];
  readonly initial?: number;
}

/** What all optimizers of variables share: gradients of a loss, and ops that apply them. */
export abstract class Optimizer implements StepLowering {
  readonly name: string;
  readonly learningRate: Rate;
  readonly #slots = new Map<Tensor, ReadonlyMap<string, Tensor>>();

  constructor(name: string, learningRate: Rate) {
    this.name = name;
    this.learningRate = checkRate(learningRate);
  }

  /** Slots of a variable of this shape. */
  abstract slotsOf(shape: readonly number[]): readonly SlotSpec[];

  /** Emits the step of one variable. */
  abstract lowerStep(step: LoweredStep): void;

  /** Whether threads step ranges of a variable; else one thread steps all of it. */
  get isRanged(): boolean {
    return true;
  }

  /** Values that the steps of all variables read. */
  sharedInputs(_variables: readonly Tensor[]): readonly Tensor[] {
    return [];
  }

  /** Updates that come once per step, whatever the number of variables. */
  finish(_variables: readonly Tensor[]): readonly Op[] {
    return [];
  }

  /**
   * Gradients of the loss and the variables they belong to.
   *
   * ```ts
   * const pairs = optimizer.computeGradients(loss);
   * ```
   */
  computeGradients(loss: Tensor, varList: readonly Tensor[] = trainableVariables(loss)): GradientAndVariable[] {
    const grads = gradients([loss], varList);
    return varList.map((target, index) => [grads[index], target] as const);
  }

  /** An op that steps every variable that has a gradient. */
  applyGradients(gradsAndVars: readonly GradientAndVariable[], options: ApplyOptions = {}): Op {
    checkOptions('applyGradients', options, ['globalStep', 'weightDecay', 'learningRate', 'name']);
    const { globalStep, name = this.name } = options;
    const target = gradsAndVars[0]?.[1];
    if (target === undefined) throw misfit(name, 'No variables provided.');
    const { graph } = target;
    const updates = this.applyAll(gradsAndVars, options);
    if (globalStep === undefined) return group(graph, updates, { name }) as Op;
    const count = graph.controlDependencies(updates, () => increment(globalStep, { by: 1, name: `${name}/AssignAdd` }));
    return group(graph, [...updates, count as Op], { name }) as Op;
  }

  /** The updates themselves: one per variable, and those that come once. */
  applyAll(gradsAndVars: readonly GradientAndVariable[], options: ApplyOptions = {}): Op[] {
    const pairs = gradsAndVars.filter((pair): pair is readonly [Tensor, Tensor] => pair[0] !== undefined);
    const variables = pairs.map(([, target]) => target);
    if (pairs.length === 0) {
      const names = gradsAndVars.map(([, target]) => target.op.name).join(', ');
      throw misfit(this.name, `No gradients provided for any variable: ${names}.`);
    }
    const seen = new Set<Tensor>();
    for (const target of variables) {
      if (seen.has(target)) throw misfit(target.op.name, 'it is listed twice: add its gradients up first');
      seen.add(target);
      refuseSparse(this.name, target);
    }
    const shared = this.sharedInputs(variables);
    const { weightDecay = 0, learningRate } = options;
    const rate = learningRate === undefined ? this.learningRate : checkRate(learningRate);
    const updates = pairs.map(([gradient, target]) => {
      const attrs = { optimizer: this, rate, weightDecay, sharedCount: shared.length };
      const inputs = [gradient, target, ...this.#slotsFor(target).values(), ...shared];
      return target.graph.add(ApplyGradient, inputs, attrs, `update_${target.op.name}`) as Op;
    });
    return [...updates, ...this.finish(variables)];
  }

  /** An op that lowers the loss by one step: gradients, then their application. */
  minimize(loss: Tensor, options: MinimizeOptions = {}): Op {
    const { varList = trainableVariables(loss), clip = (pairs) => pairs, ...rest } = options;
    checkOptions('minimize', options, ['globalStep', 'weightDecay', 'learningRate', 'name', 'varList', 'clip']);
    const pairs = this.computeGradients(loss, varList);
    if (pairs.every(([gradient]) => gradient === undefined)) {
      const names = varList.map((target) => target.op.name).join(', ');
      const where = `between variables ${names} and loss ${loss.name}`;
      const what = 'check your graph for ops that do not support gradients';
      const reason = `No gradients provided for any variable, ${what}, ${where}.`;
      throw misfit(this.name, reason);
    }
    return this.applyGradients(clip(pairs), rest);
  }

  /** A slot of a variable by its short name; `undefined` before the variable was stepped in the graph. */
  getSlot(target: Tensor, slot: string): Tensor | undefined {
    return this.#slots.get(target)?.get(slot);
  }

  getSlotNames(): string[] {
    return [...new Set([...this.#slots.values()].flatMap((slots) => [...slots.keys()]))].sort();
  }

  #slotsFor(target: Tensor): ReadonlyMap<string, Tensor> {
    let slots = this.#slots.get(target);
    if (slots === undefined) {
      const shape = target.spec.shape as readonly number[];
      slots = new Map(this.slotsOf(shape).map((spec) => [spec.slot, createSlot(target, spec)]));
      this.#slots.set(target, slots);
    }
    return slots;
  }
}

function createSlot(target: Tensor, { suffix, initial = 0, ...spec }: SlotSpec): Tensor {
  const { graph } = target;
  const shape = spec.shape ?? (target.spec.shape as readonly number[]);
  const fill = () => new Float32Array(elementCount(shape)).fill(initial);
  return graph.rootScope(() =>
    variable(graph, { name: `${target.op.name}/${suffix}`, shape, initial: fill, trainable: false }),
  );
}

/** The trainable variables of the graph of a loss. */
export function trainableVariables({ graph }: Tensor): Tensor[] {
  return graph.getCollection(VARIABLES).filter(({ op }) => (op.attrs as VariableAttrs).trainable);
}

/** Rows of tables have sparse gradients, which no dense optimizer steps. */
function refuseSparse(optimizer: string, target: Tensor): void {
  if (!isLookup(target)) return;
  throw new MonolithError(
    'ML_DENSE_SPARSE',
    { optimizer },
    { hint: `${target.op.name} is stepped by its table: give its gradient to applyEmbeddingGradients` },
  );
}

/** Whether a tensor is what a table showed, whole or in columns. */
function isLookup({ op }: Tensor): boolean {
  return op.def === (EmbeddingLookup as OpDef<never>) || op.inputs.some(isLookup);
}
