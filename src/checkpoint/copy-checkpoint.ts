/**
 * @file Copies a checkpoint into another model directory, where it becomes the latest one.
 *
 * The bytes are checked against the manifest as they pass, so that damage is not spread. Everything is written under
 * temporary names first: a copy that fails leaves the target as it was.
 */
import { closeSync, existsSync, linkSync, mkdirSync, readSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { crc32c, crcHex } from '../base/crc32c.js';
import { MonolithError, messageOf } from '../base/errors.js';
import { cleanUp, FileSink, writeError, writingTo } from '../base/files/atomic-file.js';
import { type FileSystem, nodeFileSystem } from '../base/files/file-system.js';
import { fileSystemOf } from '../base/files/file-systems.js';
import { PendingFiles } from '../base/files/pending-files.js';
import { openRegular } from '../base/files/read-file.js';
import { type CheckpointState, formatCheckpointState } from '../io/checkpoint-state.js';
import { removeLeftovers } from './leftovers.js';
import { filesOf } from './list-checkpoints.js';
import type { Manifest } from './manifest.js';
import { readState } from './model-dir.js';
import { saveInTurn } from './model-dir-turns.js';
import { ASSETS_SUFFIX, INDEX_SUFFIX, MANIFEST_SUFFIX, relativeToDir, STATE_FILE } from './names.js';
import { notACheckpoint } from './not-a-checkpoint.js';
import { PENDING_FILE, writePending } from './pending-save.js';
import { publishState } from './publish-state.js';
import { withCheckpoint, withModelDir } from './remote-dir.js';
import { hasAnyFile, readManifest } from './verify-checkpoint.js';

export interface CopyCheckpointOptions {
  /** Hard links in place of copies, where both are on one disk: no bytes are written, nor read. Default: false. */
  readonly link?: boolean;
  /** Told the bytes so far. */
  readonly onBytes?: (bytes: number) => void;
  /** Where writes go; tests put failures here. */
  readonly fileSystem?: FileSystem;
}

export interface CopiedCheckpoint {
  /** The prefix of the copy. */
  readonly path: string;
  readonly files: number;
  /** Written; none for links. */
  readonly bytes: number;
  /** What went wrong without harm to the copy. */
  readonly warnings: readonly string[];
}

const CHUNK_BYTES = 1 << 20;

/**
 * Copies the checkpoint `prefix` into the model directory `dir`, which is made when needed, and makes it the latest
 * there. ML_CKPT_CORRUPT when the source is damaged, ML_CKPT_WRITE when the target has that checkpoint or cannot be
 * written, ML_DIR when another process trains or saves there.
 *
 * ```ts
 * await copyCheckpoint('runs/ffm/model.ckpt-2000', 'runs/next');
 * ```
 */
export async function copyCheckpoint(
  prefix: string,
  dir: string,
  options: CopyCheckpointOptions = {},
): Promise<CopiedCheckpoint> {
  checkOptions('copyCheckpoint', options, ['link', 'onBytes', 'fileSystem']);
  return withCheckpoint(prefix, (from) =>
    withModelDir(dir, async (to, nameOf) => {
      const copied = await copyLocal(from, to, options);
      return { ...copied, path: nameOf(copied.path) };
    }),
  );
}

async function copyLocal(prefix: string, dir: string, options: CopyCheckpointOptions): Promise<CopiedCheckpoint> {
  const { fileSystem: fs = fileSystemOf(dir), link } = options;
  if (!hasAnyFile(prefix)) throw notACheckpoint(prefix);
  if (link && fs !== nodeFileSystem) throw taken(dir, 'there are no hard links in it');
  if (resolve(dirname(prefix)) === resolve(dir)) throw taken(join(dir, basename(prefix)), 'it is in that directory');
  await writingTo(dir, () => fs.makeDirectory(dir));
  return saveInTurn(dir, () => copy(prefix, dir, options, fs));
}

async function copy(
  prefix: string,
  dir: string,
  options: CopyCheckpointOptions,
  fs: FileSystem,
): Promise<CopiedCheckpoint> {
  await writingTo(dir, () => removeLeftovers(dir, fs));
  const target = join(dir, basename(prefix));
  if (hasAnyFile(target)) throw taken(target, 'something of that name is there');
  const state = readState(dir);
  const manifest = existsSync(`${prefix}${MANIFEST_SUFFIX}`) ? readManifest(prefix) : undefined;
  const pending = new PendingFiles(fs);
  const copier = new Copier(prefix, manifest, options, fs);
  let backup: string;
  try {
    await copier.copyAll(target, pending);
    await writePending(dir, [target], fs);
    await pending.publish();
    const text = formatCheckpointState(withLatest(state, dir, target));
    backup = await publishState(join(dir, STATE_FILE), text, fs);
  } catch (cause) {
    const error = cause instanceof MonolithError ? cause : writeError(target, cause);
    throw await cleanUp(error, async () => {
      await pending.rollBack();
      await fs.remove(join(dir, PENDING_FILE));
    });
  }
  const warnings: string[] = [];
  // It counts by now: what is left of the way there is for the next save to remove.
  for (const file of [backup, join(dir, PENDING_FILE)]) {
    await fs.remove(file).catch((cause: unknown) => void warnings.push(messageOf(cause)));
  }
  return { path: target, files: copier.files, bytes: copier.bytes, warnings };
}

/** The state with `target` as its latest. Times are there for all or for none. */
function withLatest(state: CheckpointState | null, dir: string, target: string): CheckpointState {
  const { allModelCheckpointPaths: paths = [], allModelCheckpointTimestamps: times } = state ?? {};
  return {
    ...state,
    modelCheckpointPath: relativeToDir(dir, target),
    allModelCheckpointPaths: [...paths, target].map((path) => relativeToDir(dir, path)),
    ...(times && { allModelCheckpointTimestamps: [...times, Date.now() / 1000] }),
  };
}

class Copier {
  files = 0;
  bytes = 0;
  readonly #prefix: string;
  readonly #manifest: Manifest | undefined;
  readonly #options: CopyCheckpointOptions;
  readonly #fs: FileSystem;

  constructor(prefix: string, manifest: Manifest | undefined, options: CopyCheckpointOptions, fs: FileSystem) {
    this.#prefix = prefix;
    this.#manifest = manifest;
    this.#options = options;
    this.#fs = fs;
  }

  /**
   * Writes all files under the temporary names of `pending`. The index takes its name last: a checkpoint exists once it
   * does.
   */
  async copyAll(target: string, pending: PendingFiles): Promise<void> {
    const files = filesOf(this.#prefix);
    const suffixes = files.map((file) => relative(dirname(this.#prefix), file).slice(basename(this.#prefix).length));
    const missing = this.#manifest?.files.find(({ suffix }) => !suffixes.includes(suffix));
    if (missing !== undefined) throw corrupt(`${this.#prefix}${missing.suffix}`, 'file', 'it is missing');
    const assets = suffixes.some((suffix) => suffix.startsWith(`${ASSETS_SUFFIX}/`))
      ? pending.add(`${target}${ASSETS_SUFFIX}`)
      : '';
    if (assets !== '') await writingTo(`${target}${ASSETS_SUFFIX}`, () => this.#fs.makeDirectory(assets));
    const plain = suffixes.filter((suffix) => !suffix.startsWith(`${ASSETS_SUFFIX}/`));
    plain.sort((a, b) => Number(a === INDEX_SUFFIX) - Number(b === INDEX_SUFFIX));
    for (const suffix of suffixes) {
      if (plain.includes(suffix)) continue;
      const to = join(assets, suffix.slice(ASSETS_SUFFIX.length + 1));
      if (dirname(to) !== assets) mkdirSync(dirname(to), { recursive: true });
      await this.#file(suffix, to);
    }
    if (assets !== '') await writingTo(`${target}${ASSETS_SUFFIX}`, () => this.#fs.syncDirectory(assets));
    for (const suffix of plain) await this.#file(suffix, pending.add(`${target}${suffix}`));
  }

  async #file(suffix: string, to: string): Promise<void> {
    const from = `${this.#prefix}${suffix}`;
    this.files++;
    if (this.#options.link) {
      try {
        linkSync(from, to);
      } catch (cause) {
        const hint = 'both have to be on one disk that has hard links: copy without links';
        throw new MonolithError('ML_CKPT_WRITE', { file: to, reason: messageOf(cause) }, { hint, cause });
      }
      return;
    }
    const { bytes, crc } = await this.#copyBytes(from, to);
    const expected = this.#manifest?.files.find((file) => file.suffix === suffix);
    if (expected === undefined) return;
    if (bytes !== expected.bytes) throw corrupt(from, 'size', `has ${bytes} bytes, ${expected.bytes} were written`);
    const found = crcHex(crc);
    if (found !== expected.crc32c) {
      throw corrupt(from, 'checksum', `has checksum ${found}, ${expected.crc32c} was written`);
    }
  }

  async #copyBytes(from: string, to: string): Promise<{ readonly bytes: number; readonly crc: number }> {
    const { fd } = openRegular(from);
    try {
      const sink = await writingTo(to, () => FileSink.create(to, this.#fs, { checksum: false }));
      const buffer = new Uint8Array(CHUNK_BYTES);
      let crc = 0;
      try {
        for (let got = readSync(fd, buffer); got > 0; got = readSync(fd, buffer)) {
          const chunk = buffer.subarray(0, got);
          crc = crc32c(chunk, crc);
          await writingTo(to, () => sink.write(chunk));
          this.bytes += got;
          this.#options.onBytes?.(this.bytes);
        }
        await writingTo(to, () => sink.finish());
      } finally {
        await sink.close();
      }
      return { bytes: sink.sizeBytes, crc };
    } catch (cause) {
      if (cause instanceof MonolithError) throw cause;
      throw new MonolithError('ML_CKPT_READ', { file: from, reason: messageOf(cause) }, { cause });
    } finally {
      closeSync(fd);
    }
  }
}

function taken(file: string, reason: string): MonolithError {
  return new MonolithError('ML_CKPT_WRITE', { file, reason }, { hint: 'copy to another directory' });
}

function corrupt(file: string, field: string, reason: string): MonolithError {
  return new MonolithError('ML_CKPT_CORRUPT', { file, field, reason: `${field}: ${reason}` });
}
