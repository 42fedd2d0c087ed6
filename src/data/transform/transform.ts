/**
 * @file What configs of Monolith do to examples while they are read: filters and labels, alone, one after the other, or
 * one of two. Mirrors native_training/data/transform and the ops add_label, filter_by_*.
 */
import { checkOptions } from '../../base/check-options.js';
import { MonolithError } from '../../base/errors.js';
import type { MessageInput } from '../../io/message.js';
import {
  type BasicTransformConfig,
  type OneTransformConfig,
  TRANSFORM_CONFIG,
  type TransformConfig,
} from '../../io/transform-messages.js';
import type { DataRow } from '../files/place.js';
import { type AddLabelOptions, addLabelOf, tasksOf } from './add-label.js';
import { type FidFilter, filterByAction, filterByFid, filterByLabel } from './filters.js';
import type { Transform } from './row-transform.js';
import { filterByValueOf, type Operand, type ValueFilterOptions } from './value-filter.js';

type Basic = MessageInput<BasicTransformConfig>;
/** Any form of a config: a message or its bytes, one of its parts, or a list of them, which apply in order. */
export type TransformGiven =
  | Uint8Array
  | MessageInput<TransformConfig>
  | MessageInput<OneTransformConfig>
  | Basic
  | readonly (MessageInput<OneTransformConfig> | Basic)[];

const BASIC = ['filterByFid', 'filterByAction', 'filterByLabel', 'addLabel', 'filterByValue'] as const;

/** The transform that a config says; ML_OPTION for one that says none. */
export function transformOf(given: TransformGiven): Transform {
  if (given instanceof Uint8Array) return transformOf(TRANSFORM_CONFIG.decode(given));
  if (Array.isArray(given)) return inOrder(given.map((each) => oneOf(each)));
  if (typeof given !== 'object' || given === null) throw refuse('config', 'it is an object, a list or bytes');
  if ('configs' in given) {
    checkOptions('TransformConfig', given, ['configs']);
    return inOrder((given.configs ?? []).map((each) => oneOf(each)));
  }
  return oneOf(given as MessageInput<OneTransformConfig> | Basic);
}

function inOrder(all: readonly Transform[]): Transform {
  return (row) => {
    let now: DataRow | undefined = row;
    for (const each of all) if (now !== undefined) now = each(now);
    return now;
  };
}

function oneOf(given: MessageInput<OneTransformConfig> | Basic): Transform {
  const one = checkOptions('TransformConfig', given as MessageInput<OneTransformConfig & BasicTransformConfig>, [
    'basicConfig',
    'logicalOrConfig',
    ...BASIC,
  ]);
  if (one.basicConfig !== undefined) return basicOf(one.basicConfig);
  if (one.logicalOrConfig === undefined) return basicOf(one);
  const { x, y } = checkOptions('LogicalOrTransformConfig', one.logicalOrConfig, ['x', 'y']);
  if (x === undefined || y === undefined) throw refuse('logicalOrConfig', 'it has x and y');
  const [first, second] = [basicOf(x), basicOf(y)];
  return (row) => first(row) ?? second(row);
}

function basicOf(given: Basic): Transform {
  const basic = checkOptions('BasicTransformConfig', given, [...BASIC]);
  const said = BASIC.filter((name) => basic[name] !== undefined);
  if (said.length !== 1) {
    const reason = said.length === 0 ? `it says none of ${BASIC.join(', ')}` : `it says ${said.join(' and ')}`;
    throw refuse('basicConfig', `${reason}; a config is one of them`);
  }
  const { filterByFid: fid, filterByAction: action, filterByLabel: label, addLabel, filterByValue: value } = basic;
  if (fid !== undefined) return filterByFid(fid as FidFilter);
  if (action !== undefined) {
    return filterByAction(checkOptions('FilterByActionConfig', action, ['hasActions']).hasActions ?? []);
  }
  if (label !== undefined) {
    return filterByLabel([...(checkOptions('FilterByLabelConfig', label, ['thresholds']).thresholds ?? [])]);
  }
  if (addLabel !== undefined) {
    const { taskLabelConfigs, ...options } = checkOptions('AddLabelConfig', addLabel, [
      'taskLabelConfigs',
      'negativeValue',
      'newSampleRate',
    ]);
    return addLabelOf(tasksOf(taskLabelConfigs ?? []), options as AddLabelOptions);
  }
  const { fieldName, op, floatOperand, intOperand, stringOperand, ...options } = checkOptions(
    'FilterByValueConfig',
    value!,
    ['fieldName', 'op', 'floatOperand', 'intOperand', 'stringOperand', 'keepEmpty', 'operandFilepath'],
  );
  const operands = [...(floatOperand ?? []), ...(intOperand ?? []), ...(stringOperand ?? [])] as Operand[];
  return filterByValueOf(fieldName ?? '', op ?? '', operands, options as ValueFilterOptions);
}

function refuse(option: string, reason: string): MonolithError {
  return new MonolithError('ML_OPTION', { where: 'transform', option, reason: `${option}: ${reason}` });
}
