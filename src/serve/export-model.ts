/** @file Exports a checkpoint: one version, in as many formats as are asked for, all of it or nothing. */
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import type { ExportFormat, ExportRequest } from '../train/exporter.js';
import { writeBeside } from './beside-model.js';
import { type ExportableModel, TrainedModel } from './trained-model.js';
import { publishVersion } from './versions.js';

/** Writes the files of a format into the folder of the version. */
export type FormatWriter = (model: ExportableModel, folder: string) => Promise<void>;

const WRITERS: Readonly<Record<ExportFormat, (() => Promise<FormatWriter>) | undefined>> = {
  native: async () => (await import('./native/export-native.js')).exportNative,
  onnx: async () => (await import('./onnx/export-onnx.js')).exportOnnx,
  savedModel: async () => (await import('./saved-model/export-saved-model.js')).exportSavedModel,
};

/** The folder of the version that was written. */
export async function exportModel({
  model,
  checkpoint,
  dir,
  formats,
  session,
  compress,
  beside = {},
}: ExportRequest): Promise<string> {
  const known = Object.keys(WRITERS);
  for (const format of formats) {
    if (known.includes(format)) continue;
    const reason = `there is no format '${format}'`;
    const hint = didYouMean(format, known) ?? `there are ${known.join(', ')}`;
    throw new MonolithError('ML_OPTION', { where: 'Estimator.export', option: 'formats', reason }, { hint });
  }
  const writers = await Promise.all(formats.map(writerOf));
  const trained = await TrainedModel.open({ model, checkpoint, session, compress });
  try {
    return await publishVersion(dir, async (folder) => {
      for (const write of writers) await write(trained, folder);
      await writeBeside(folder, beside);
    });
  } finally {
    await trained.close();
  }
}

function writerOf(format: ExportFormat): Promise<FormatWriter> {
  const load = WRITERS[format];
  if (load !== undefined) return load();
  const reason = `this version has no exporter of the format ${format}`;
  throw new MonolithError('ML_UNIMPLEMENTED', { what: 'export', reason }, { hint: 'the format native is there' });
}
