/** @file The kernel that steps table rows on a device for each optimizer, and what it takes of a parameter block. */
import { OPTIMIZER_NUMBER, PARAMETER_BLOCK, PARAMETER_FLAG } from '../../../memory/optimizer-layout.js';
import type { Views } from '../../../memory/views.js';

/** A parameter block: its rate, its values by their number, its flags. */
export interface StepParameters {
  readonly rate: number;
  value(index: number): number;
  has(flag: keyof typeof PARAMETER_FLAG): number;
}

export interface RowStep {
  readonly kernel: (parameters: StepParameters) => string;
  /** Whether the kernel takes state. */
  readonly stateful: boolean;
  /** What follows the rows among the operands. */
  readonly operands: readonly Operand[];
}

type Operand = (parameters: StepParameters) => number;
const rate: Operand = (parameters) => parameters.rate;
const value =
  (index: number): Operand =>
  (parameters) =>
    parameters.value(index);
const flag =
  (name: keyof typeof PARAMETER_FLAG): Operand =>
  (parameters) =>
    parameters.has(name);

const named = (kernel: string, operands: readonly Operand[], stateful = true): RowStep => {
  return { kernel: () => kernel, stateful, operands };
};
const adam = [rate, value(0), value(1), value(2), value(3), flag('nesterov')];
const decayed = [rate, value(0)];

const ROW_STEPS: Readonly<Partial<Record<keyof typeof OPTIMIZER_NUMBER, RowStep>>> = {
  sgd: named('stepRowsSgdF32', [rate], false),
  movingAverage: named('stepRowsMovingAverageF32', [value(0)], false),
  adagrad: named('stepRowsAdagradF32', decayed),
  dynamicWdAdagrad: {
    kernel: ({ has }) => (has('decoupled') ? 'stepRowsDecoupledAdagradF32' : 'stepRowsAdagradF32'),
    stateful: true,
    operands: decayed,
  },
  momentum: named('stepRowsMomentumF32', [rate, value(0), value(1), flag('nesterov')]),
  // The configured rate and not the scheduled one, as on the CPU.
  rmsprop: named('stepRowsRmspropF32', [value(2), value(0), value(1), () => 0]),
  rmspropv2: named('stepRowsRmspropF32', [rate, value(0), value(1), () => 1]),
  ftrl: named('stepRowsFtrlF32', [rate, value(0), value(1), value(2), flag('standardL1')]),
  adadelta: named('stepRowsAdadeltaF32', [rate, value(0), value(1), value(2)]),
  adam: named('stepRowsAdamF32', adam),
  amsgrad: named('stepRowsAmsgradF32', adam),
  groupFtrl: named('stepRowsGroupFtrlF32', [rate, value(0), value(1), value(2)]),
  groupAdagrad: named('stepRowsGroupAdagradF32', [rate, value(0), value(1), value(2)]),
};

/** Optimizers that tables on a device have. */
export const DEVICE_OPTIMIZERS: readonly string[] = Object.keys(ROW_STEPS);

const BY_NUMBER = new Map(
  Object.entries(ROW_STEPS).map(([name, step]) => [OPTIMIZER_NUMBER[name as keyof typeof OPTIMIZER_NUMBER], step]),
);

export function rowStepOf(optimizerNumber: number): RowStep {
  return BY_NUMBER.get(optimizerNumber as never)!;
}

/** The parameter block at byte `at`. */
export function parametersAt({ f32, u32 }: Views, at: number): StepParameters {
  return {
    get rate() {
      return f32[(at + PARAMETER_BLOCK.rate) / 4]!;
    },
    value: (index) => f32[(at + PARAMETER_BLOCK.values) / 4 + index]!,
    has: (flag) => (u32[(at + PARAMETER_BLOCK.flags) / 4]! & PARAMETER_FLAG[flag] ? 1 : 0),
  };
}
