/** @file `monolith import`: what an exported model is, loaded and tried; nothing in it is run. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { columnsOf } from '../serve/online/columns.js';
import { dtypeOf, outputName } from '../serve/online/model-docs.js';
import { ServedVersion } from '../serve/online/served-version.js';
import type { ImportFlags } from './export-options.js';
import type { CliIo } from './io.js';
import { jsonLine } from './json-line.js';
import { EXIT_DONE } from './report.js';

const RUN_FILE = 'schema.json';
const FILES = ['model.json', 'model.onnx', 'saved_model.pb', 'schema.json', 'warmup.jsonl', 'candidates.jsonl'];

/** Whether it holds tables of the reference, and no model that was exported; a run is left to `monolith export`. */
async function isDumpOfTables(dir: string, { into }: ImportFlags): Promise<boolean> {
  if (!existsSync(dir) || existsSync(join(dir, 'model.json'))) return into !== undefined;
  const { isDump } = await import('../sparse/files/dump-folder.js');
  return into !== undefined || (isDump(dir) && !existsSync(join(dir, RUN_FILE)));
}

/** Loads the newest version in `dir`, tries it, and tells what it takes and gives. */
export async function runImportCommand(dir: string, flags: ImportFlags, io: CliIo): Promise<number> {
  if (await isDumpOfTables(dir, flags)) {
    const { runImportDump } = await import('./import-dump-command.js');
    return runImportDump(dir, flags, io);
  }
  const version = await ServedVersion.open(dir, {}, 'model');
  try {
    const { model } = version;
    const inputs = columnsOf(model.schema.features).map(({ column, feature }) => ({
      name: column,
      dtype: dtypeOf(feature),
      width: feature.kind === 'ragged' ? 'any' : feature.width,
    }));
    const outputs = model.heads.map((head) => ({
      name: outputName(model.heads, head),
      kind: head.kind,
      width: head.width,
    }));
    const tables = [...model.tables].map(([name, table]) => ({ name, rows: table.size, dim: table.dim }));
    const files = FILES.filter((file) => existsSync(join(model.dir, file)));
    if (flags.json) {
      const { name, step, dir: folder } = model;
      io.out.write(jsonLine({ event: 'imported', model: name, folder, step, files, inputs, outputs, tables }));
      return EXIT_DONE;
    }
    const lines = [
      `${model.dir}  ${model.name}, step ${model.step ?? 'unknown'}; ${files.join(', ')}`,
      ...inputs.map(({ name, dtype, width }) => `  in    ${name.padEnd(20)} ${dtype}  ${width}`),
      ...outputs.map(({ name, kind, width }) => `  out   ${name.padEnd(20)} ${kind}  ${width}`),
      ...tables.map(({ name, rows, dim }) => `  table ${name.padEnd(20)} ${rows} rows of ${dim}`),
      'loaded and tried: it answers',
    ];
    io.out.write(`${lines.join('\n')}\n`);
    return EXIT_DONE;
  } finally {
    await version.close();
  }
}
