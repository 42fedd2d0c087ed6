/**
 * @file The state files of a model directory: `checkpoint` and `monolith_checkpoint`, both protobuf text.
 *
 * Paths are kept as they are in the file; whoever reads them joins relative ones with the directory.
 */
import { MonolithError } from '../base/errors.js';
import { checkLimit } from '../base/limits.js';
import { formatPbtxtDouble, type PbtxtField, parsePbtxt, quotePbtxt } from './pbtxt.js';

/** tensorflow.CheckpointState. The saver writes the first two; the others are kept when found. */
export interface CheckpointState {
  readonly modelCheckpointPath: string;
  /** Oldest first. */
  readonly allModelCheckpointPaths: readonly string[];
  readonly allModelCheckpointTimestamps?: readonly number[];
  readonly lastPreservedTimestamp?: number;
}

/** The text of a `checkpoint` file. */
export function formatCheckpointState(state: CheckpointState): string {
  const times = state.allModelCheckpointTimestamps ?? [];
  if (times.length > 0 && times.length !== state.allModelCheckpointPaths.length) {
    const reason = 'Checkpoint timestamps, if provided, must match checkpoint paths';
    throw new MonolithError('ML_PBTXT', { file: 'checkpoint', line: 1, reason });
  }
  const lines = [`model_checkpoint_path: ${quotePbtxt(state.modelCheckpointPath)}`];
  for (const path of state.allModelCheckpointPaths) lines.push(`all_model_checkpoint_paths: ${quotePbtxt(path)}`);
  for (const time of times) lines.push(`all_model_checkpoint_timestamps: ${formatPbtxtDouble(time)}`);
  if (state.lastPreservedTimestamp !== undefined) {
    lines.push(`last_preserved_timestamp: ${formatPbtxtDouble(state.lastPreservedTimestamp)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** ML_PBTXT when the text is malformed, has a field of another message, or names no current checkpoint. */
export function parseCheckpointState(text: string, file: string): CheckpointState {
  let current = '';
  const paths: string[] = [];
  const times: number[] = [];
  let preserved: number | undefined;
  for (const field of parsePbtxt(text, file)) {
    if (field.name === 'model_checkpoint_path') current = pathOf(field, file);
    else if (field.name === 'all_model_checkpoint_paths') paths.push(pathOf(field, file));
    else if (field.name === 'all_model_checkpoint_timestamps') times.push(numberOf(field, file));
    else if (field.name === 'last_preserved_timestamp') preserved = numberOf(field, file);
    else refuse(file, field.line, `field ${field.name} is unknown`);
  }
  if (current === '') refuse(file, 1, 'model_checkpoint_path is missing');
  return {
    modelCheckpointPath: current,
    allModelCheckpointPaths: paths,
    ...(times.length > 0 ? { allModelCheckpointTimestamps: times } : {}),
    ...(preserved === undefined ? {} : { lastPreservedTimestamp: preserved }),
  };
}

export const HASH_TABLE_TYPES = ['UNKNOWN', 'CUCKOO_HASH_MAP', 'MULTI_CUCKOO_HASH_MAP'] as const;
export type HashTableType = (typeof HASH_TABLE_TYPES)[number];

/** monolith.native_training.MonolithCheckpointState: checkpoints that rotation spares, and how tables are stored. */
export interface MonolithCheckpointState {
  readonly exemptModelCheckpointPaths: readonly string[];
  readonly lastCheckpointSaveTimestamp?: bigint;
  readonly builtinHashTableType?: HashTableType;
}

/** The text of a `monolith_checkpoint` file. */
export function formatMonolithCheckpointState(state: MonolithCheckpointState): string {
  const lines = state.exemptModelCheckpointPaths.map((path) => `exempt_model_checkpoint_paths: ${quotePbtxt(path)}`);
  if (state.lastCheckpointSaveTimestamp !== undefined) {
    lines.push(`last_checkpoint_save_timestamp: ${state.lastCheckpointSaveTimestamp}`);
  }
  if (state.builtinHashTableType !== undefined) lines.push(`builtin_hash_table_type: ${state.builtinHashTableType}`);
  return lines.map((line) => `${line}\n`).join('');
}

/** Reads the text of a `monolith_checkpoint` file. */
export function parseMonolithCheckpointState(text: string, file: string): MonolithCheckpointState {
  const paths: string[] = [];
  let time: bigint | undefined;
  let type: HashTableType | undefined;
  for (const field of parsePbtxt(text, file)) {
    if (field.name === 'exempt_model_checkpoint_paths') paths.push(pathOf(field, file));
    else if (field.name === 'last_checkpoint_save_timestamp') time = bigintOf(field, file);
    else if (field.name === 'builtin_hash_table_type') type = typeOf(field, file);
    else refuse(file, field.line, `field ${field.name} is unknown`);
  }
  return {
    exemptModelCheckpointPaths: paths,
    ...(time === undefined ? {} : { lastCheckpointSaveTimestamp: time }),
    ...(type === undefined ? {} : { builtinHashTableType: type }),
  };
}

function pathOf({ name, value, line }: PbtxtField, file: string): string {
  if (value.kind !== 'string') return refuse(file, line, `${name} is not a string`);
  checkLimit('pathBytes', value.bytes.length, (reason) => refuse(file, line, `the size of ${name}: ${reason}`));
  if (value.bytes.includes(0)) refuse(file, line, `${name} has a zero byte, which no path has`);
  return Buffer.from(value.bytes).toString('utf8');
}

function wordOf({ name, value, line }: PbtxtField, file: string): string {
  return value.kind === 'word' ? value.word : refuse(file, line, `${name} is not a plain value`);
}

function numberOf(field: PbtxtField, file: string): number {
  const value = Number(wordOf(field, file));
  return Number.isNaN(value) ? refuse(file, field.line, `${field.name} is not a number`) : value;
}

function bigintOf(field: PbtxtField, file: string): bigint {
  const word = wordOf(field, file);
  return /^-?\d+$/.test(word) ? BigInt(word) : refuse(file, field.line, `${field.name} is not an integer`);
}

/** Enum values are accepted by name and by number. */
function typeOf(field: PbtxtField, file: string): HashTableType {
  const word = wordOf(field, file);
  const type = HASH_TABLE_TYPES.find((name, number) => name === word || String(number) === word);
  return type ?? refuse(file, field.line, `${field.name} has the unknown value ${word}`);
}

function refuse(file: string, line: number, reason: string): never {
  throw new MonolithError('ML_PBTXT', { file, line, reason });
}
