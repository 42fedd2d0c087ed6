/**
 * @file `monolith_model.json`: whose checkpoint this is, and size and checksum of each of its other files.
 *
 * Upstream formats protect records and tensors one by one; a table file cut between two records, or files of two saves
 * mixed together, look whole to them. The manifest closes that gap. It carries a checksum of itself and is compared
 * with its own canonical text, so that no change to it goes unnoticed. It holds no times and nothing random.
 */
import { parseBoundedJson } from '../base/bounded-json.js';
import { crc32c, crcHex } from '../base/crc32c.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { lazySchema } from '../base/lazy-module.js';
import { type DumpedOptimizer, OPTIMIZER_DUMPS } from '../io/optimizer-dump.js';
import { checkManifest } from './check-manifest.js';
import type { Manifest } from './manifest.js';

const FORMAT = 1;
const optimizers = Object.keys(OPTIMIZER_DUMPS) as [DumpedOptimizer, ...DumpedOptimizer[]];

const schema = lazySchema((z) => {
  const count = z.number().int().nonnegative();
  return z.strictObject({
    format: z.literal(FORMAT),
    model: z.string(),
    step: count,
    settings: z.optional(z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))),
    input: z.optional(z.unknown()),
    dense: z.array(
      z.strictObject({ name: z.string(), dtype: z.enum(['float32', 'int32', 'int64']), shape: z.array(count) }),
    ),
    tables: z.array(
      z.strictObject({
        name: z.string(),
        segments: z.array(z.strictObject({ dim: count, optimizer: z.enum(optimizers), stateDim: z.optional(count) })),
        rowCount: count,
        files: z.array(z.string()),
      }),
    ),
    space: z.optional(z.strictObject({ tables: z.array(z.string()), unused: z.string() })),
    filters: z.optional(z.array(z.strictObject({ name: z.string(), files: z.array(z.string()) }))),
    files: z.array(z.strictObject({ suffix: z.string(), bytes: count, crc32c: z.string() })),
    crc32c: z.string(),
  });
});

/** The canonical text: equal manifests give equal bytes. */
export function formatManifest(manifest: Manifest): string {
  const body = {
    format: FORMAT,
    model: manifest.model,
    step: manifest.step,
    settings: manifest.settings,
    input: manifest.input,
    dense: manifest.dense.map(({ name, dtype, shape }) => ({ name, dtype, shape })),
    tables: manifest.tables.map(({ name, segments, rowCount, files }) => ({
      name,
      segments: segments.map(({ dim, optimizer, stateDim }) => ({ dim, optimizer, stateDim })),
      rowCount,
      files,
    })),
    space: manifest.space && { tables: manifest.space.tables, unused: manifest.space.unused },
    filters: manifest.filters?.length ? manifest.filters.map(({ name, files }) => ({ name, files })) : undefined,
    files: manifest.files.map(({ suffix, bytes, crc32c: crc }) => ({ suffix, bytes, crc32c: crc })),
  };
  const crc = crcHex(crc32c(Buffer.from(JSON.stringify(body), 'utf8')));
  return `${JSON.stringify({ ...body, crc32c: crc }, null, 2)}\n`;
}

/**
 * The text of `manifest` once it was read back: a manifest that could not be loaded is ML_CKPT_WRITE, naming the field.
 */
export function provenManifest(manifest: Manifest, file: string): string {
  try {
    const text = formatManifest(manifest);
    parseManifest(Buffer.from(text, 'utf8').toString('utf8'), file);
    return text;
  } catch (cause) {
    const { field, reason } =
      cause instanceof MonolithError ? cause.fields : { field: 'manifest', reason: messageOf(cause) };
    throw new MonolithError('ML_CKPT_WRITE', { file, field, reason: `${field}: ${reason}` }, { cause });
  }
}

/** ML_CKPT_CORRUPT naming `file` when the text is not exactly what `formatManifest` writes. */
export function parseManifest(text: string, file: string): Manifest {
  const refuse = (field: string, reason: string, cause?: unknown): never => {
    throw new MonolithError('ML_CKPT_CORRUPT', { file, field, reason }, { cause });
  };
  let json: unknown;
  try {
    json = parseBoundedJson(text, 'manifestValues', (reason) => refuse('text', reason));
  } catch (cause) {
    if (cause instanceof MonolithError) throw cause;
    return refuse('text', messageOf(cause), cause);
  }
  const parsed = schema().safeParse(json);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return refuse(issue?.path.join('.') ?? 'text', issue?.message ?? 'does not fit', parsed.error);
  }
  const manifest = parsed.data as Manifest;
  checkManifest(manifest, refuse);
  if (formatManifest(manifest) !== text) return refuse('crc32c', 'text does not fit its checksum');
  return manifest;
}
