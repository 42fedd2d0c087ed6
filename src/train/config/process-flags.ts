/** @file The flags of a process: those of the fields of RunnerConfig, and those that belong to no record. */
import { snakeName } from '../../base/snake-case.js';
import { bool, type FieldTable, int, maybeBool, maybeInt, maybeText, text } from './field.js';
import { Flags } from './flags.js';
import { extractFlags, flagOf } from './gflags-utils.js';
import { RunnerFields } from './runner-record.js';

/** Memory of a parameter server beyond which it is not well, where nothing is said: more than any machine has. */
const MEMORY_LIMIT = 2 ** 53 - 1;

/** Flags that are made from no record; a resolved configuration has them beside its fields. */
export const processFields = {
  monolithChiefAlertProto: text('', 'Alert rules, which the chief takes as monolith_alert_proto.'),
  monolithAlertProto: text('', 'Alert rules, as a text message.'),
  enableAlltoallMetrics: bool(false, 'Summaries of the sizes of exchanges.'),
  enableAlltoallMetricsForSlot: maybeText('Merged feature slot whose exchanges are shown one by one.'),
  monolithDefaultMachineInfoMemLimit: int(MEMORY_LIMIT, 'Bytes of memory that a parameter server may take.', {
    min: 0,
  }),
  dataServiceDispatcher: text('', 'Dispatcher of the data service; where it is empty there is none.'),
  datasetUseDataservice: bool(false, 'Read the input through the data service.'),
  datasetInputPatterns: maybeText('Input files, such as data_{DATE(20201120,20201210)}/part_{INT(0,3)}.'),
  datasetInputUseSnappy: maybeBool('Whether the input is compressed with snappy.'),
  datasetInputCompressionType: maybeText('How the input is compressed.'),
  datasetInputUseParquet: maybeBool('Whether the input is in parquet files.'),
  datasetInputUseTfrecord: maybeBool('Whether the input is in TFRecord files.'),
  datasetWorkerIdx: maybeInt('Which share of the input is read; null is the index of the worker.', { min: 0 }),
  datasetNumWorkers: maybeInt('Shares of the input; null is the number of workers.', { min: 1 }),
  kafkaOtherMetadata: maybeText('Further settings of Kafka.'),
} satisfies FieldTable;

/** Defines the flags of a process. */
export function defineProcessFlags(flags: Flags): Flags {
  for (const [key, field] of Object.entries(processFields)) {
    const { kind } = field as { kind: 'int' | 'bool' | 'string' };
    flags.define(snakeName(key), flagOf({ ...field, kind }, field.help));
  }
  extractFlags(RunnerFields, { flags, skipFlags: ['device_fn'] });
  return flags;
}

/** The flags of this process. Until `FLAGS.parse` has read a command line, no record takes anything from them. */
export const FLAGS = defineProcessFlags(new Flags());
