/** @file Labels made of what people did: each task says which actions are positive and which negative. */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import { hashU32 } from '../../base/random.js';
import type { MessageInput } from '../../io/message.js';
import type { LabelConf, TaskLabelConfig } from '../../io/transform-messages.js';
import { LABEL_CONF } from '../../io/transform-messages.js';
import { textId } from '../farmhash.js';
import { atPlaceOf, type DataRow, placeOf } from '../files/place.js';
import { actionsOf } from './filters.js';
import type { Transform } from './row-transform.js';

export interface AddLabelOptions {
  /** The label of a negative. Default: 0. */
  readonly negativeValue?: number;
  /** `sample_rate` of examples from now on, above 0 and at most 1. Default: 1. */
  readonly newSampleRate?: number;
}

/** The label of an example that a task says nothing of, or whose negative was not drawn: lower than any label. */
export const INVALID_LABEL = -3.4028234663852886e38;
const POSITIVE = 1;
const U32 = 2 ** 32;

interface Task {
  readonly positive: ReadonlySet<number>;
  readonly negative: ReadonlySet<number>;
  readonly rate: number;
}

/** A label for each task of a config: a `LabelConf`, its bytes, or a text such as `1,2:3:0.5;4::1`. */
export function addLabel(
  config: string | Uint8Array | MessageInput<LabelConf>,
  options: AddLabelOptions = {},
): Transform {
  if (typeof config === 'string') return addLabelOf(tasksOf(config), options);
  const { conf = [] } = config instanceof Uint8Array ? LABEL_CONF.decode(config) : config;
  return addLabelOf(tasksOf(conf), options);
}

export function addLabelOf(tasks: readonly Task[], options: AddLabelOptions): Transform {
  const { negativeValue = 0, newSampleRate = 1 } = checkOptions('AddLabelConfig', options, [
    'negativeValue',
    'newSampleRate',
  ]);
  if (!(newSampleRate > 0 && newSampleRate <= 1)) {
    throw refuse('newSampleRate', 'new_sample_rate should be in (0.0, 1.0]');
  }
  return (row) => {
    const actions = actionsOf(row);
    const labels = tasks.map((task, index) => labelOf(task, actions, () => drawOf(row, index), negativeValue));
    const label = labels.length === 1 ? labels[0] : Float32Array.from(labels);
    return atPlaceOf({ ...row, label, sample_rate: newSampleRate }, row);
  };
}

function labelOf(task: Task, actions: readonly number[], draw: () => number, negativeValue: number): number {
  if (actions.some((action) => task.positive.has(action))) return POSITIVE;
  const isNegative = task.negative.size === 0 || actions.some((action) => task.negative.has(action));
  return isNegative && draw() < task.rate ? negativeValue : INVALID_LABEL;
}

/** Below 1: the same for the same example in each pass, so that a run that is resumed sees what it would have seen. */
function drawOf(row: DataRow, task: number): number {
  const { uid, item_id, req_time } = row;
  const known = [uid, item_id, req_time].some((value) => value !== undefined);
  const text = known ? [uid, item_id, req_time].map(String).join(' ') : (placeOf(row) ?? '');
  return hashU32(Number(BigInt.asUintN(32, textId(text))), task) / U32;
}

/** The tasks of a text or of messages; ML_OPTION for what is none. */
export function tasksOf(config: string | readonly MessageInput<TaskLabelConfig>[]): Task[] {
  const tasks =
    typeof config === 'string'
      ? config.split(';').flatMap((part) => (part.trim() === '' ? [] : [taskOf(part)]))
      : config.map((given) => {
          const task = checkOptions('TaskLabelConfig', given, ['posActions', 'negActions', 'sampleRate']);
          const { posActions = [], negActions = [], sampleRate = 1 } = task;
          return { positive: new Set(posActions), negative: new Set(negActions), rate: sampleRate };
        });
  if (tasks.length === 0) throw refuse('config', 'it has no task');
  for (const { rate } of tasks) {
    if (!(rate >= 0 && rate <= 1)) throw refuse('sampleRate', `a rate of ${rate} is no share from 0 to 1`);
  }
  return tasks;
}

function taskOf(text: string): Task {
  const parts = text.split(':');
  const [positive, negative, rate] = parts.map((part) => part.trim());
  const actions = (list = ''): Set<number> => {
    const found = list.split(',').flatMap((one) => (one.trim() === '' ? [] : [Number(one)]));
    if (!found.every((action) => Number.isInteger(action)))
      throw refuse('config', `${text} has an action that is no number`);
    return new Set(found);
  };
  if (parts.length !== 3 || rate === '' || Number.isNaN(Number(rate))) {
    throw refuse('config', `${text} is no task`, 'a task is positive actions:negative actions:rate, such as 1,2:3:0.5');
  }
  return { positive: actions(positive), negative: actions(negative), rate: Number(rate) };
}

function refuse(option: string, reason: string, hint?: string): MonolithError {
  const fields = { where: 'addLabel', option, reason: `${option}: ${reason}` };
  return new MonolithError('ML_OPTION', fields, hint === undefined ? {} : { hint });
}
