/** @file Exports a checkpoint: one version, in as many formats as are asked for, all of it or nothing. */
import { MonolithError } from '../base/errors.js';
import { didYouMean } from '../base/suggest.js';
import type { ExportFormat, ExportRequest, PartsLayout } from '../train/exporter.js';
import { writeBeside } from './beside-model.js';
import { SERVERS_MAX } from './parts/part-manifest.js';
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
  layout,
  version,
}: ExportRequest): Promise<string> {
  const known = Object.keys(WRITERS);
  for (const format of formats) {
    if (known.includes(format)) continue;
    const reason = `there is no format '${format}'`;
    const hint = didYouMean(format, known) ?? `there are ${known.join(', ')}`;
    throw new MonolithError('ML_OPTION', { where: 'Estimator.export', option: 'formats', reason }, { hint });
  }
  if (layout !== undefined) checkLayout(layout, formats);
  const writers = await Promise.all(formats.map(writerOf));
  const dense = layout?.denseOnly ?? false;
  const trained = await TrainedModel.open({ model, checkpoint, session, compress, dense });
  try {
    if (layout !== undefined) {
      const { partsOf } = await import('./parts/export-parts.js');
      const { publishParts } = await import('./parts/publish-parts.js');
      return await publishParts(dir, partsOf(trained, layout, beside), { version });
    }
    return await publishVersion(
      dir,
      async (folder) => {
        for (const write of writers) await write(trained, folder);
        await writeBeside(folder, beside);
      },
      { version },
    );
  } finally {
    await trained.close();
  }
}

/** Parts are of the native format: an entry of standard ops could not ask servers for rows. */
function checkLayout({ servers }: PartsLayout, formats: readonly ExportFormat[]): void {
  const refuse = (option: string, reason: string, hint: string) =>
    new MonolithError('ML_OPTION', { where: 'Estimator.export', option, reason }, { hint });
  if (!(Number.isInteger(servers) && servers >= 1 && servers <= SERVERS_MAX)) {
    throw refuse('layout', `${String(servers)} is no number of servers up to ${SERVERS_MAX}`, 'servers: 2');
  }
  if (formats.every((format) => format === 'native')) return;
  throw refuse('formats', 'parts are of the format native', 'export other formats in one folder, without layout');
}

function writerOf(format: ExportFormat): Promise<FormatWriter> {
  const load = WRITERS[format];
  if (load !== undefined) return load();
  const reason = `this version has no exporter of the format ${format}`;
  throw new MonolithError('ML_UNIMPLEMENTED', { what: 'export', reason }, { hint: 'the format native is there' });
}
