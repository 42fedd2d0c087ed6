/**
 * @file Configs of what is done to training examples while they are read: which are kept, which labels they get
 * (data_op_config.proto, package monolith.native_training.data.config; transform_config.proto, package
 * monolith.native_training.data; proto2).
 */
import { field, MessageType } from './message.js';

/** What of a label's actions is positive, what negative, and how many of the negatives are kept. */
export interface TaskLabelConfig {
  posActions: number[];
  negActions: number[];
  /** 1 when absent. */
  sampleRate?: number;
}

export interface LabelConf {
  conf: TaskLabelConfig[];
}

export interface FilterByFidConfig {
  hasFids: BigInt64Array;
  filterFids: BigInt64Array;
  selectFids: BigInt64Array;
}

export interface FilterByActionConfig {
  hasActions: number[];
}

export interface AddLabelConfig {
  taskLabelConfigs: TaskLabelConfig[];
  /** 0 when absent. */
  negativeValue?: number;
  /** 1 when absent. */
  newSampleRate?: number;
}

export interface FilterByLabelConfig {
  thresholds: Float32Array;
}

export interface FilterByValueConfig {
  fieldName?: string;
  op?: string;
  floatOperand: Float32Array;
  intOperand: BigInt64Array;
  stringOperand: string[];
  /** False when absent. */
  keepEmpty?: boolean;
  /** Empty when absent. */
  operandFilepath?: string;
}

/** Exactly one member is set. */
export interface BasicTransformConfig {
  filterByFid?: FilterByFidConfig;
  filterByAction?: FilterByActionConfig;
  filterByLabel?: FilterByLabelConfig;
  addLabel?: AddLabelConfig;
  filterByValue?: FilterByValueConfig;
}

export interface LogicalOrTransformConfig {
  x?: BasicTransformConfig;
  y?: BasicTransformConfig;
}

/** Exactly one member is set. */
export interface OneTransformConfig {
  basicConfig?: BasicTransformConfig;
  logicalOrConfig?: LogicalOrTransformConfig;
}

export interface TransformConfig {
  configs: OneTransformConfig[];
}

const taskLabel = (name: string) =>
  new MessageType<TaskLabelConfig>(name, {
    posActions: field(1, 'int32', 'repeated'),
    negActions: field(2, 'int32', 'repeated'),
    sampleRate: field(3, 'float', 'optional'),
  });

export const LABEL_CONF = new MessageType<LabelConf>('LabelConf', {
  conf: field(1, taskLabel('TaskLabelConf'), 'repeated'),
});

// uint64 in the description: on the wire it is the same, and ids are BigInt64Array everywhere.
const FILTER_BY_FID = new MessageType<FilterByFidConfig>('FilterByFidConfig', {
  hasFids: field(1, 'int64', 'repeated'),
  filterFids: field(2, 'int64', 'repeated'),
  selectFids: field(3, 'int64', 'repeated'),
});
const FILTER_BY_ACTION = new MessageType<FilterByActionConfig>('FilterByActionConfig', {
  hasActions: field(1, 'int32', 'repeated'),
});
const ADD_LABEL = new MessageType<AddLabelConfig>('AddLabelConfig', {
  taskLabelConfigs: field(1, taskLabel('AddLabelConfig.TaskLabelConfig'), 'repeated'),
  negativeValue: field(2, 'float', 'optional'),
  newSampleRate: field(3, 'float', 'optional'),
});
const FILTER_BY_LABEL = new MessageType<FilterByLabelConfig>('FilterByLabelConfig', {
  thresholds: field(1, 'float', 'repeated'),
});
const FILTER_BY_VALUE = new MessageType<FilterByValueConfig>('FilterByValueConfig', {
  fieldName: field(1, 'string', 'optional'),
  op: field(2, 'string', 'optional'),
  floatOperand: field(3, 'float', 'repeated'),
  intOperand: field(4, 'int64', 'repeated'),
  stringOperand: field(5, 'string', 'repeated'),
  keepEmpty: field(6, 'bool', 'optional'),
  operandFilepath: field(7, 'string', 'optional'),
});
const BASIC = new MessageType<BasicTransformConfig>('BasicTransformConfig', {
  filterByFid: field(1, FILTER_BY_FID, 'oneof'),
  filterByAction: field(2, FILTER_BY_ACTION, 'oneof'),
  filterByLabel: field(3, FILTER_BY_LABEL, 'oneof'),
  addLabel: field(4, ADD_LABEL, 'oneof'),
  filterByValue: field(5, FILTER_BY_VALUE, 'oneof'),
});
const LOGICAL_OR = new MessageType<LogicalOrTransformConfig>('LogicalOrTransformConfig', {
  x: field(1, BASIC, 'optional'),
  y: field(2, BASIC, 'optional'),
});
const ONE = new MessageType<OneTransformConfig>('TransformConfig.OneTransformConfig', {
  basicConfig: field(1, BASIC, 'oneof'),
  logicalOrConfig: field(2, LOGICAL_OR, 'oneof'),
});

export const TRANSFORM_CONFIG = new MessageType<TransformConfig>('TransformConfig', {
  configs: field(1, ONE, 'repeated'),
});
