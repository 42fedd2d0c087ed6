/** @file Cases of row optimizers, their decorators and learning rates (src/sparse, assembly/optim). */

import { PolynomialDecay } from '../../../src/base/rates/schedules.js';
import { OPTIMIZER_DUMPS } from '../../../src/io/optimizer-dump.js';
import { PARAMETER_BLOCK_BYTES } from '../../../src/memory/optimizer-layout.js';
import { OPTIMIZER_MESSAGES, type OptimizerMessage } from '../../../src/sparse/config/config-messages.js';
import {
  type OptimizerPlan,
  type PlannedOptimizer,
  planOptimizer,
  setStep,
  stepError,
  writeParameters,
} from '../../../src/sparse/config/optimizer-plan.js';
import { KernelHarness } from '../../kernels/harness.js';
import {
  type Fields,
  fieldsOf,
  listOf,
  type ParityCase,
  type ParityHandlers,
  recordsOf,
  UnknownForm,
} from '../case.js';
import { differences } from '../compare.js';
import { derive, Series } from '../derived.js';
import { snake } from '../meanings.js';
import { STEP_FIELDS, startOf, stepsOf } from '../steps.js';
import { camel, optimizerOf } from '../tables.js';

const h = await KernelHarness.create(4 << 20);

/** One row under one optimizer. */
class Row {
  readonly plan: OptimizerPlan;
  readonly w: number;
  readonly state: number;
  readonly #gradient: number;
  readonly #parameters: number;

  constructor(config: OptimizerMessage, weights: readonly number[]) {
    this.plan = planOptimizer(config, weights.length);
    this.w = h.putF32(weights);
    this.state = h.alloc(this.plan.stateFloats * 4, 4);
    this.#gradient = h.alloc(weights.length * 4);
    this.#parameters = h.alloc(PARAMETER_BLOCK_BYTES);
    writeParameters(h.views, this.#parameters, this.plan);
    h.wasm.initOptimizerState(this.plan.number, this.state, weights.length, this.#parameters);
  }

  get weights(): number[] {
    return [...h.f32(this.w, this.plan.dim)];
  }

  step(
    gradient: readonly number[],
    rate: number,
    globalStep = 0n,
    delay?: { latest: readonly number[]; lambda: number },
  ) {
    const { dim, number } = this.plan;
    h.views.f32.set(gradient, this.#gradient / 4);
    if (delay !== undefined) {
      h.wasm.compensateDelayF32(this.#gradient, this.w, h.putF32(delay.latest), dim, delay.lambda);
    }
    setStep(h.views, this.#parameters, rate, globalStep);
    const result = h.wasm.applyOptimizerF32(number, this.w, this.state, this.#gradient, dim, this.#parameters);
    if (result !== 0) throw stepError(this.plan, result, globalStep);
  }

  /** Names of the parts of the state that can be read. */
  get parts(): string[] {
    const kept = OPTIMIZER_DUMPS[this.plan.name].parts.filter(({ kind }) => kind === 'floats' || kind === 'float');
    return kept.map(({ name }) => name);
  }

  /** A part of the state by its name in the dump. */
  part(name: string): number[] {
    const { parts, blocks } = OPTIMIZER_DUMPS[this.plan.name];
    const part = parts.find((one) => one.name === name);
    if (part?.kind === 'floats') return [...h.f32(this.state + part.stateBlock * this.plan.dim * 4, this.plan.dim)];
    if (part?.kind === 'float') return [...h.f32(this.state + (blocks * this.plan.dim + part.scalar) * 4, 1)];
    throw new UnknownForm(`state ${name}`);
  }
}

/** Weights and parts of the state after every step; each part under its own tolerance. */
function runSteps(name: PlannedOptimizer, { input, expected, tolerance }: ParityCase): unknown {
  const options = Object.keys(OPTIMIZER_MESSAGES[name as keyof typeof OPTIMIZER_MESSAGES].fields).map(snake);
  const given = fieldsOf(input, [], ['w0', 'config', 'base', 'lambda', ...STEP_FIELDS, ...options]);
  const beside = Object.fromEntries(
    options.filter((key) => key in given && key !== 'dim_size').map((key) => [key, given[key]]),
  );
  const config = optimizerOf({ [name]: { ...beside, ...((given.config ?? {}) as Fields) } });
  const guess = given.grads ?? given.grad;
  const width = Array.isArray(guess) && !Array.isArray(guess[0]) && given.steps !== undefined ? guess.length : 1;
  const row = new Row(config, startOf(given.w0, given.dim ?? width));
  const weights: number[][] = [];
  const states: Record<string, number[][]> = {};
  for (const { grad, lr, globalStep, latest } of stepsOf(given, row.plan.dim)) {
    const delay = latest === undefined ? undefined : { latest, lambda: (given.lambda ?? 0) as number };
    row.step(grad, lr ?? row.plan.learningRate, BigInt(globalStep), delay);
    weights.push(row.weights);
    for (const part of row.parts) {
      states[part] ??= [];
      states[part].push(row.part(part));
    }
  }
  const state = Object.fromEntries(Object.entries(states).map(([part, each]) => [part, new Series(each)]));
  const found: Record<string, unknown> = {
    w: new Series(weights),
    ...state,
    dump_count: OPTIMIZER_DUMPS[name].field === null ? 0 : 1,
    ...(name === 'batchSoftmax' ? { stored_step: h.i32(row.state, 1)[0] } : {}),
  };
  const stateTolerance = { ...tolerance, abs: tolerance?.abs_state ?? tolerance?.abs ?? 0 };
  const wrong = Object.entries(expected as Fields).flatMap(([key, item]) => {
    const ofState = derive(key, { w: found.w }) === undefined;
    return differences(found, { [key]: item }, ofState ? stateTolerance : tolerance);
  });
  if (wrong.length > 0) throw new Error(wrong.join('; '));
  return undefined;
}

/** Ids that come at fixed intervals: what batch_softmax makes of the steps between. */
function intervals({ input }: ParityCase) {
  const { init, lr, schedule } = fieldsOf(input, ['init', 'lr', 'schedule']);
  const text = String(schedule);
  const last = /step in 0\.\.(\d+)/.exec(text)?.[1];
  const periods = [...text.matchAll(/id \d+ when step%(\d+)==0/g)].map((match) => Number(match[1]));
  if (init !== 'zeros' || last === undefined || periods.length === 0) throw new UnknownForm(text);
  const rows = periods.map(() => new Row({ batchSoftmax: {} }, [0]));
  for (let step = 0; step <= Number(last); step++) {
    for (const [i, period] of periods.entries()) {
      if (step % period === 0) rows[i]!.step([0.1], lr as number, BigInt(step));
    }
  }
  return { inverse_interval: rows.map((row) => 1 / row.weights[0]!) };
}

/** Segments one after the other, each with its own rate; then the same state under zero weights. */
function combined({ input }: ParityCase) {
  const given = fieldsOf(input, ['parts', 'grad', 'lr']);
  const { parts, grad } = given as { parts: Record<string, Fields>[]; grad: number[] };
  const rates = listOf<number>(given.lr);
  const rows = parts.map((part) => {
    const [name, { dim, ...config }] = Object.entries(part)[0] as [string, { dim: number }];
    return new Row(optimizerOf({ [name]: config }), new Array<number>(dim).fill(0));
  });
  const step = () => {
    let at = 0;
    return rows.flatMap((row, i) => {
      row.step(grad.slice(at, at + row.plan.dim), rates[i] ?? rates[0]!);
      at += row.plan.dim;
      return row.weights;
    });
  };
  const after = step();
  for (const row of rows) h.views.f32.fill(0, row.w / 4, row.w / 4 + row.plan.dim);
  return { after_step: after, restored_state_zero_weights_then_step: step() };
}

function rounding({ input }: ParityCase) {
  const { seed, draws, ...given } = fieldsOf(input, [], ['seed', 'draws', 'cases', 'x', 'p']);
  if (draws === undefined) {
    const rounded = recordsOf<{ x: number; p: number }>(given.cases ?? given, ['x', 'p']).map(({ x, p }) =>
      h.wasm.roundToHalf(x, p),
    );
    return { rounded };
  }
  const generator = h.putI32(seed as number[]);
  return { values: Array.from({ length: draws as number }, () => h.wasm.nextMwc(generator)) };
}

function learningRate({ input }: ParityCase) {
  const options = ['end', 'power', 'cycle', 'global_steps', 'accumulator', 'vars', 'grads', 'steps', 'type'];
  const given = fieldsOf(input, ['initial', 'decay_steps'], options);
  const { type = 'polynomial_decay' } = given;
  if (!/^polynomial_?decay$/i.test(String(type))) throw new UnknownForm(`rate ${type}`);
  const rate = new PolynomialDecay({
    initialLearningRate: given.initial as number,
    decaySteps: given.decay_steps as number,
    ...(given.end === undefined ? {} : { endLearningRate: given.end as number }),
    ...(given.power === undefined ? {} : { power: given.power as number }),
    ...(given.cycle === undefined ? {} : { cycle: given.cycle as boolean }),
  });
  const asked = given.global_steps ?? (Array.isArray(given.steps) ? given.steps : undefined);
  if (asked !== undefined) return { lr: listOf<number>(asked).map((step) => rate.call(step)) };
  const config = { adagrad: { initialAccumulatorValue: given.accumulator as number } };
  return {
    vars: (given.vars as number[][]).map((variable, i) => {
      const row = new Row(config, variable);
      for (let step = 0; step < ((given.steps ?? 3) as number); step++)
        row.step((given.grads as number[][])[i]!, rate.call(0));
      return row.weights;
    }),
  };
}

const scoped = (handler: (parity: ParityCase) => unknown) => (parity: ParityCase) => h.scope(() => handler(parity));
const steps = (name: PlannedOptimizer) => scoped((parity) => runSteps(name, parity));

export const handlers: ParityHandlers = {
  'opt.adadelta': steps('adadelta'),
  'opt.adagrad': steps('adagrad'),
  'opt.adam': steps('adam'),
  'opt.amsgrad': steps('amsgrad'),
  'opt.batch_softmax': scoped((parity) =>
    'schedule' in (parity.input as Fields) ? intervals(parity) : runSteps('batchSoftmax', parity),
  ),
  'opt.combined': scoped(combined),
  'opt.dc': scoped((parity) => runSteps(camel(String((parity.input as Fields).base)) as PlannedOptimizer, parity)),
  'opt.dynamic_wd_adagrad': steps('dynamicWdAdagrad'),
  'opt.ftrl': steps('ftrl'),
  'opt.group_adagrad': steps('groupAdagrad'),
  'opt.group_ftrl': steps('groupFtrl'),
  'opt.momentum': steps('momentum'),
  'opt.moving_average': steps('movingAverage'),
  'opt.rmsprop': steps('rmsprop'),
  'opt.rmspropv2': steps('rmspropv2'),
  'opt.sgd': steps('sgd'),
  'opt.stochastic_rounding': scoped(rounding),
  learning_rate: scoped(learningRate),
};
