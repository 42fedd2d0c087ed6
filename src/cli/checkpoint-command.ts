/**
 * @file `monolith checkpoint list|verify|copy|prune`: the checkpoints of a model directory. `list` and `verify` only
 * read.
 */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { z } from 'zod';
import { MonolithError } from '../base/errors.js';
import { visible } from '../base/visible.js';
import { copyCheckpoint } from '../checkpoint/copy-checkpoint.js';
import { filesOf, type ListedCheckpoint, listCheckpoints } from '../checkpoint/list-checkpoints.js';
import { pruneCheckpoints } from '../checkpoint/prune-checkpoints.js';
import { verifyCheckpoint } from '../checkpoint/verify-checkpoint.js';
import type { copyFlags, listFlags, pruneFlags, verifyFlags } from './checkpoint-options.js';
import { readAllRows } from './inspect-command.js';
import { readContents } from './inspect-contents.js';
import { findTarget } from './inspect-target.js';
import type { CliIo } from './io.js';
import { jsonLine, snakeCaseDeep } from './json-line.js';
import { bytesText, counted } from './progress-line.js';
import { EXIT_DONE, EXIT_FAILED } from './report.js';
import { ScanProgress } from './scan-progress.js';
import { SIGNAL_EXIT } from './stop-signals.js';

export function runListCommand(dir: string, { json }: z.output<typeof listFlags>, io: CliIo): number {
  const { checkpoints, trouble, temporaries } = listCheckpoints(dir);
  if (json) {
    io.out.write(
      jsonLine({ event: 'checkpoints', dir, trouble, temporaries, checkpoints: snakeCaseDeep(checkpoints) }),
    );
    return EXIT_DONE;
  }
  const lines = checkpoints.length === 0 ? [`${dir} has no checkpoints`] : table(checkpoints);
  if (trouble !== null) lines.push(`note: ${trouble}`);
  for (const one of checkpoints) if (one.trouble !== null) lines.push(`note: ${one.trouble}`);
  if (temporaries.length > 0) {
    lines.push(`note: ${counted(temporaries.length, 'temporary file')} of a save that was killed or is under way`);
  }
  print(io, lines);
  return EXIT_DONE;
}

function table(checkpoints: readonly ListedCheckpoint[]): string[] {
  const head = ['checkpoint', 'step', 'size', 'rows', 'model', 'saved', 'status'];
  const rows = checkpoints.map(({ path, step, bytes, rows, model, savedMs, status }) => [
    basename(path),
    String(step),
    bytesText(bytes),
    rows === null ? '?' : String(rows),
    model ?? '?',
    savedMs === null ? '-' : new Date(savedMs).toISOString().replace('T', ' ').slice(0, 19),
    status,
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)));
  return [head, ...rows].map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

/** Verifies one checkpoint, or all of a directory; 1 when one is damaged. */
export async function runVerifyCommand(
  path: string,
  { latest, json }: z.output<typeof verifyFlags>,
  io: CliIo,
): Promise<number> {
  const prefixes = await prefixesAt(path, latest);
  const sizes = prefixes.map((prefix) => filesOf(prefix).reduce((sum, file) => sum + statSync(file).size, 0));
  const progress = progressOf(io, sizes);
  let [done, damaged] = [0, 0];
  try {
    for (const [index, prefix] of prefixes.entries()) {
      const before = done;
      const error = await verifyOne(prefix, (bytes) => progress.bar.update(before + bytes), io);
      done += sizes[index]!;
      progress.bar.update(done);
      progress.bar.close();
      if (error !== null) damaged++;
      const { code, message, hint } = error ?? {};
      if (json) {
        const trouble = error === null ? null : { code, message, hint: hint ?? null };
        io.out.write(jsonLine({ event: 'verified', path: prefix, ok: error === null, bytes: sizes[index], trouble }));
      } else if (error === null) print(io, [`whole    ${prefix}  ${bytesText(sizes[index]!)}`]);
      else print(io, [`damaged  ${prefix}  ${code}: ${message}`]);
    }
  } finally {
    progress.close();
  }
  return damaged === 0 ? EXIT_DONE : EXIT_FAILED;
}

/** The checkpoint at `path`, or those of the directory. */
async function prefixesAt(path: string, latest: boolean): Promise<string[]> {
  if (!latest && statSync(path, { throwIfNoEntry: false })?.isDirectory() && !path.endsWith('.assets')) {
    const { checkpoints } = listCheckpoints(path);
    const there = checkpoints.filter(({ status }) => status !== 'missing').map((one) => one.path);
    if (there.length > 0) return there;
  }
  return [await prefixAt(path)];
}

/** ML_CKPT_NONE when there is no checkpoint at `path`. */
async function prefixAt(path: string): Promise<string> {
  const { prefix } = await findTarget(path);
  if (prefix !== null) return prefix;
  const hint = 'give a model directory, or a checkpoint like runs/ffm/model.ckpt-100; monolith inspect reads tables';
  throw new MonolithError('ML_CKPT_NONE', { path, reason: 'these are files of a table' }, { hint });
}

/** What is wrong with it, or null. Without a manifest, every record and every variable is read for its own checksum. */
async function verifyOne(prefix: string, onBytes: (bytes: number) => void, io: CliIo): Promise<MonolithError | null> {
  try {
    const contents = readContents(await findTarget(prefix));
    if (contents.manifest === null) await readAllRows(contents, io);
    else await verifyCheckpoint(prefix, undefined, onBytes);
    return null;
  } catch (error) {
    if (error instanceof MonolithError && error.code !== 'ML_INTERNAL') return error;
    throw error;
  }
}

export async function runCopyCommand(
  path: string,
  dir: string,
  { link, json }: z.output<typeof copyFlags>,
  io: CliIo,
): Promise<number> {
  const prefix = await prefixAt(path);
  const total = filesOf(prefix).reduce((sum, file) => sum + statSync(file).size, 0);
  const progress = progressOf(io, [total]);
  let copied: Awaited<ReturnType<typeof copyCheckpoint>>;
  try {
    copied = await copyCheckpoint(prefix, dir, { link, onBytes: (bytes) => progress.bar.update(bytes) });
  } finally {
    progress.close();
  }
  if (json) io.out.write(jsonLine({ event: 'copied', from: prefix, ...copied, linked: link }));
  else {
    const how = link ? 'linked' : `copied ${bytesText(copied.bytes)}`;
    print(io, [
      `${prefix} -> ${copied.path} (${how}, ${counted(copied.files, 'file')}); it is the latest of ${dir} now`,
    ]);
  }
  return EXIT_DONE;
}

export async function runPruneCommand(
  dir: string,
  { keep, unlisted, yes, json }: z.output<typeof pruneFlags>,
  io: CliIo,
): Promise<number> {
  const { deleted, kept, bytes, temporaries } = await pruneCheckpoints(dir, { keep, unlisted, dryRun: !yes });
  if (json) {
    const paths = (all: readonly ListedCheckpoint[]) => all.map(({ path }) => path);
    io.out.write(
      jsonLine({ event: 'pruned', dir, dryRun: !yes, deleted: paths(deleted), kept: paths(kept), bytes, temporaries }),
    );
    return EXIT_DONE;
  }
  const verb = yes ? 'deleted' : 'would delete';
  const lines = deleted.map(({ path, status, bytes: size }) => `${verb} ${path} (${status}, ${bytesText(size)})`);
  if (temporaries.length > 0) lines.push(`${verb} ${counted(temporaries.length, 'temporary file')} of killed saves`);
  const sum = `${counted(deleted.length, 'checkpoint')}, ${bytesText(bytes)}; ${kept.length} kept`;
  lines.push(lines.length === 0 ? `nothing to delete: ${counted(kept.length, 'checkpoint')} kept` : `${verb} ${sum}`);
  if (!yes && lines.length > 1) lines.push('nothing was deleted: --yes does it');
  print(io, lines);
  return EXIT_DONE;
}

/** A bar over so many bytes, and the signals that end the process at once while it is there. */
function progressOf(io: CliIo, sizes: readonly number[]): { readonly bar: ScanProgress; close(): void } {
  const bar = new ScanProgress(
    io,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  const stopSignals = io.onSignal((signal) => {
    bar.close();
    io.exit(SIGNAL_EXIT[signal]);
  });
  return {
    bar,
    close: () => {
      bar.close();
      stopSignals();
    },
  };
}

function print(io: CliIo, lines: readonly string[]): void {
  io.out.write(`${lines.map(visible).join('\n')}\n`);
}
