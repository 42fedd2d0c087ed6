/** @file The package's own format: `model.json` says what is computed, `weights.safetensors` has the numbers. */
import { join } from 'node:path';
import { replaceFile, writeFileAtomic } from '../../base/files/atomic-file.js';
import { type SafeTensorSpec, SafetensorsWriter } from '../../io/safetensors.js';
import { modelText } from '../../portable/model-json.js';
import { dtypeOf, packedArray, packRow } from '../packed-rows.js';
import type { ExportableModel, TrainedTable } from '../trained-model.js';
import { constantArray, MODEL_FILE, tableIds, tableRows, variableArray, WEIGHTS_FILE } from './array-names.js';

/** Writes both files into a folder that is there. */
export async function exportNative(model: ExportableModel, dir: string): Promise<void> {
  const { variables, constants, json } = model.written;
  const arrays = [
    ...variables.map((op) => ({ name: variableArray(op.name), op })),
    ...constants.map((op) => ({ name: constantArray(op.name), op })),
  ];
  // In the order they are written.
  const specs: SafeTensorSpec[] = [
    ...model.tables.flatMap(tableSpecs),
    ...arrays.map(({ name, op }) => ({ name, dtype: 'F32' as const, shape: op.attrs.shape })),
  ];
  const metadata = {
    format: 'monolith-model',
    model: json.name,
    ...(model.step !== null && { step: `${model.step}` }),
  };
  await replaceFile(join(dir, WEIGHTS_FILE), async (sink) => {
    const writer = await SafetensorsWriter.begin(sink, specs, metadata);
    for (const table of model.tables) await writeTable(writer, table);
    for (const { op } of arrays) await writer.write(model.array(op.name));
  });
  await writeFileAtomic(join(dir, MODEL_FILE), modelText(json));
}

function tableSpecs(table: TrainedTable): SafeTensorSpec[] {
  const { name, count, segments } = table;
  return [
    { name: tableIds(name), dtype: 'I64', shape: [count] },
    ...segments.map((segment, index) => ({
      name: tableRows(name, index),
      dtype: dtypeOf(segment),
      shape: [count, segment.dim],
    })),
  ];
}

async function writeTable(writer: SafetensorsWriter, { count, segments, rows }: TrainedTable): Promise<void> {
  const ids = new BigInt64Array(count);
  const packed = segments.map((segment) => packedArray(segment, count));
  let at = 0;
  for (const { id, weights } of rows()) {
    ids[at] = id;
    let first = 0;
    for (const [index, segment] of segments.entries()) {
      packRow(segment, weights.subarray(first, first + segment.dim), packed[index]!, at);
      first += segment.dim;
    }
    at++;
  }
  await writer.write(ids);
  for (const part of packed) await writer.write(part);
}
