/**
 * @file Restores that are not plain, as a listener asks for them before the session is there: variables under names
 * that they had before, or initial values in place of the dense part (CUSTOM_RESTORE_OP of native_training/save_utils).
 */
import { join } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { writeFileAtomic } from '../base/files/atomic-file.js';
import { fileSystemOf } from '../base/files/file-systems.js';
import { log } from '../base/log.js';
import type { Graph } from '../graph/graph.js';
import type { BundleReader, BundleTensor } from '../io/tensor-bundle.js';

export interface CustomRestore {
  /** Name in the checkpoint by name in the model. */
  readonly aliasMap?: Readonly<Record<string, string>> | undefined;
  /** Initial values in place of the dense part, once per directory: the marker `clear_nn` says that it was done. */
  readonly clearNN?: boolean | undefined;
  /** With `clearNN`: the global step goes on. */
  readonly continueTraining?: boolean | undefined;
  /** Where the marker is. Default: the directory of the checkpoint. */
  readonly modelDir?: string | undefined;
}

const asked = new WeakMap<Graph, CustomRestore>();

/** For the first restore of a session of this graph. */
export function setCustomRestore(graph: Graph, custom: CustomRestore): void {
  if (custom.clearNN && custom.aliasMap !== undefined) {
    throw new MonolithError('ML_SAVER', { reason: 'clear_nn takes no alias map: nothing is restored by name then' });
  }
  asked.set(graph, custom);
}

/** What was asked for; later restores are plain. */
export function takeCustomRestore(graph: Graph): CustomRestore | undefined {
  const found = asked.get(graph);
  asked.delete(graph);
  return found;
}

const MARKER = 'clear_nn';

/** Whether the dense part of this directory is still to be cleared. */
export async function clearsNow(modelDir: string): Promise<boolean> {
  const marker = join(modelDir, MARKER);
  const isDone = (await fileSystemOf(marker).stat(marker)) !== null;
  if (isDone) log.info('clear_nn was done before: the checkpoint is restored', { marker });
  return !isDone;
}

export async function noteCleared(modelDir: string): Promise<void> {
  await writeFileAtomic(join(modelDir, MARKER), 'clean nn done!');
}

export interface WantedTensor {
  /** Its name in checkpoints of this model. */
  readonly saved: string;
  readonly shape: readonly number[];
}

/**
 * The tensors under their names, or where one of them is not there, all of them under the names that the map has. Parts
 * of a variable, `<name>/part_<n>`, are rows of the old one, in the order of their numbers.
 */
export function aliasedTensors(
  reader: BundleReader,
  wanted: readonly WantedTensor[],
  aliasMap: Readonly<Record<string, string>> | undefined,
): BundleTensor[] {
  const has = new Set(reader.names());
  if (aliasMap === undefined || wanted.every(({ saved }) => has.has(saved))) {
    return wanted.map(({ saved }) => reader.read(saved));
  }
  const firstRows = rowsOfParts(wanted);
  return wanted.map(({ saved, shape }) => {
    const own = aliasMap[saved] ?? (has.has(saved) ? saved : undefined);
    if (own !== undefined) return reader.read(own);
    const stem = stemOf(saved);
    return rowsOf(reader.read(aliasMap[stem] ?? stem), firstRows.get(saved)!, shape);
  });
}

const PART = /\/part_(\d+)$/;

/** A variable's name without the number of its part. */
export function stemOf(name: string): string {
  return name.replace(PART, '');
}

function rowsOfParts(wanted: readonly WantedTensor[]): Map<string, number> {
  const numberOf = ({ saved }: WantedTensor) => Number(PART.exec(saved)?.[1] ?? 0);
  const next = new Map<string, number>();
  const first = new Map<string, number>();
  for (const tensor of [...wanted].sort((a, b) => numberOf(a) - numberOf(b))) {
    const stem = stemOf(tensor.saved);
    const row = next.get(stem) ?? 0;
    first.set(tensor.saved, row);
    next.set(stem, row + (tensor.shape[0] ?? 0));
  }
  return first;
}

function rowsOf(old: BundleTensor, first: number, shape: readonly number[]): BundleTensor {
  const rowSize = old.shape.slice(1).reduce((product, size) => product * size, 1);
  const [rows = 0] = shape;
  const data = old.data as Float32Array<ArrayBuffer>;
  return { ...old, shape: [rows, ...old.shape.slice(1)], data: data.slice(first * rowSize, (first + rows) * rowSize) };
}
