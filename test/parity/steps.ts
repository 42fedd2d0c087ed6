/**
 * @file Steps of an optimizer as cases write them: a list of records, or gradients, rates and global steps beside each
 * other, each one for all steps or one per step, and how many steps there are.
 */
import { type Fields, fieldsOf, UnknownForm } from './case.js';

/** Names of steps that are not records; a handler adds them to the names it knows. */
export const STEP_FIELDS = ['steps', 'grad', 'grads', 'lr', 'global_step', 'global_steps', 'latest', 'dim'] as const;

export interface Step {
  readonly grad: readonly number[];
  readonly lr: number | undefined;
  readonly globalStep: number;
  readonly latest: readonly number[] | undefined;
}

const asRow = (value: unknown, dim: number): number[] =>
  Array.isArray(value) ? (value as number[]) : new Array<number>(dim).fill(value as number);

const asNumber = (value: unknown): number | undefined =>
  (Array.isArray(value) ? value[0] : value) as number | undefined;

/** The weights that a case begins with: a row, or one number for each of `dim` components. */
export function startOf(given: unknown, dim: unknown): number[] {
  return asRow(given ?? 0, (dim ?? 1) as number);
}

function recordStep(one: unknown, given: Fields, dim: number): Step {
  const own = fieldsOf(one, ['grad'], ['lr', 'global_step', 'latest'], { where: 'a step' });
  const latest = own.latest ?? given.latest;
  return {
    grad: asRow(own.grad, dim),
    lr: asNumber(own.lr ?? given.lr),
    globalStep: asNumber(own.global_step ?? given.global_step) ?? 0,
    latest: latest === undefined ? undefined : asRow(latest, dim),
  };
}

/** Whether `value` has one row for each of several steps, for rows of `dim`. */
function perStep(value: unknown, dim: number, count: number | undefined): value is unknown[] {
  if (!Array.isArray(value)) return false;
  if (Array.isArray(value[0])) return true;
  if (dim === 1) return value.length > 1 || count === 1;
  if (value.length !== dim) throw new UnknownForm(`${value.length} components for a row of ${dim}`);
  return false;
}

/** One value per step, from a list of them or one for all. */
function at(value: unknown, index: number): unknown {
  return Array.isArray(value) ? value[Math.min(index, value.length - 1)] : value;
}

/** The newest weights of a step: a row for each step, or one for all. */
function latestAt(latest: unknown, index: number): unknown {
  return Array.isArray(latest) && Array.isArray(latest[0]) ? at(latest, index) : latest;
}

export function stepsOf(given: Fields, dim: number): Step[] {
  if (Array.isArray(given.steps) && typeof given.steps[0] === 'object') {
    return given.steps.map((one) => recordStep(one, given, dim));
  }
  const grads = given.grads ?? given.grad;
  if (grads === undefined) throw new UnknownForm('the case has no grad');
  const globals = given.global_steps ?? given.global_step ?? (Array.isArray(given.steps) ? given.steps : undefined);
  const said = typeof given.steps === 'number' ? given.steps : undefined;
  const each = perStep(grads, dim, said);
  const count = said ?? (each ? grads.length : Array.isArray(globals) ? globals.length : 1);
  if (each && grads.length !== count && grads.length !== 1) {
    throw new UnknownForm(`${grads.length} gradients for ${count} steps`);
  }
  return Array.from({ length: count }, (_, index) => ({
    grad: asRow(each ? at(grads, index) : grads, dim),
    lr: asNumber(Array.isArray(given.lr) ? at(given.lr, index) : given.lr),
    globalStep: (at(globals, index) ?? 0) as number,
    latest: given.latest === undefined ? undefined : asRow(latestAt(given.latest, index), dim),
  }));
}
