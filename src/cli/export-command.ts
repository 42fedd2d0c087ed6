/** @file `monolith export`: a run out of the training room, with its predictions compared. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MonolithError } from '../base/errors.js';
import { latestCheckpoint } from '../checkpoint/on-demand.js';
import { SCHEMA_FILE } from '../report/run-folder.js';
import { checkExport, type ExportCheck } from '../serve/check-export.js';
import { sampleRows } from '../serve/sample-rows.js';
import type { ExportFormat } from '../train/exporter.js';
import { foldersOfVersion } from '../train/part-folders.js';
import type { ExportFlags } from './export-options.js';
import type { CliIo } from './io.js';
import { jsonLine } from './json-line.js';
import { EXIT_DONE } from './report.js';
import { estimatorOfRun } from './run-estimator.js';

const FILES: Readonly<Record<ExportFormat, readonly string[]>> = {
  native: ['model.json', 'weights.safetensors'],
  onnx: ['model.onnx'],
  savedModel: ['saved_model.pb'],
};
/** Rows that a server warms up with. */
const WARMUP_ROWS = 16;

/** Writes a version of the run in `dir` and tells what is in it. */
export async function runExportCommand(dir: string, flags: ExportFlags, io: CliIo): Promise<number> {
  const { to, formats, checkpoint, compress, servers, denseOnly } = flags;
  if (denseOnly && servers === undefined) {
    const reason = 'variables alone are a part of an export in parts';
    throw new MonolithError('ML_FLAG', { flag: 'dense-only', reason }, { hint: 'give --servers N too' });
  }
  const estimator = await estimatorOfRun(dir);
  try {
    // What a run on a table kept as the best, where it kept one.
    const from = checkpoint ?? (await latestCheckpoint(join(dir, 'best'))) ?? (await estimator.latestCheckpoint());
    const version = await estimator.export(to, {
      formats,
      warmup: sampleRows(estimator.model.schema.features as never, WARMUP_ROWS),
      schema: readFileSync(join(dir, SCHEMA_FILE), 'utf8'),
      ...(from !== null && { checkpoint: from }),
      ...(compress !== undefined && { compress }),
      ...(servers !== undefined && { layout: { servers, denseOnly } }),
    });
    const check = formats.includes('native') ? await checkExport(estimator, version, from ?? undefined) : undefined;
    const parts = formats.map((format) => ({ format, files: FILES[format], bytes: bytesOf(version, FILES[format]) }));
    const folders = foldersOfVersion(version);
    if (flags.json) {
      const checked = check === undefined ? {} : { checkedRows: check.rows, largestDifference: check.worst };
      const inParts = servers === undefined ? {} : { folders };
      io.out.write(jsonLine({ event: 'exported', version, checkpoint: from, formats: parts, ...inParts, ...checked }));
      return EXIT_DONE;
    }
    io.out.write(`${version}  of ${from}\n`);
    for (const { format, files, bytes } of parts) {
      const size = `${(bytes / 1e6).toFixed(bytes < 1e5 ? 3 : 1)} MB`;
      io.out.write(`  ${files.join(', ').padEnd(34)} ${size.padStart(10)}   ${checkText(format, check, compress)}\n`);
    }
    io.out.write('  schema.json, warmup.jsonl\n');
    if (servers !== undefined) io.out.write(`  parts: ${folders.join(', ')}\n`);
    io.out.write(`serve it: monolith serve ${to}\n`);
    return EXIT_DONE;
  } finally {
    await estimator.close();
  }
}

function checkText(format: ExportFormat, check: ExportCheck | undefined, compress: string | undefined): string {
  if (format !== 'native' || check === undefined) return 'not checked here: it takes another system to run it';
  const kept = compress === undefined ? '' : `, rows kept as ${compress}`;
  return `checked: ${check.rows} rows, largest difference to training ${check.worst.toExponential(1)}${kept}`;
}

const bytesOf = (version: string, files: readonly string[]): number =>
  foldersOfVersion(version)
    .flatMap((folder) => files.map((file) => statSync(join(folder, file)).size))
    .reduce((sum, size) => sum + size, 0);
