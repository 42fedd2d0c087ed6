/**
 * @file What a manifest may say: sizes within the limits, and files that are the checkpoint's own.
 *
 * Its checksum only shows that it is whole. Names of files lead to what is read, and where it is written when the
 * checkpoint is saved again; dimensions to memory. So file names must be exactly those that the tables and filters
 * have.
 */
import { checkLimit } from '../base/limits.js';
import { stateCountOf, weightCountOf } from '../io/optimizer-dump.js';
import { shardFileName, tableBaseName } from '../io/shard-files.js';
import { parseSpace } from '../sparse/files/table-space.js';
import type { Manifest } from './manifest.js';
import { ASSETS_SUFFIX, DATA_SUFFIX, INDEX_SUFFIX } from './names.js';

export type Refuse = (field: string, reason: string) => never;

export function checkManifest(manifest: Manifest, refuse: Refuse): void {
  const { model, dense, tables, space, filters = [], files, settings = {}, input = null } = manifest;
  for (const name of [model, ...dense.map((value) => value.name), ...tables.map((table) => table.name)]) {
    checkLimit('nameBytes', Buffer.byteLength(name), (reason) => refuse('name', `the size of a name: ${reason}`));
  }
  checkLimit('settingsBytes', Buffer.byteLength(JSON.stringify(settings)), (reason) => {
    refuse('settings', `their size ${reason}`);
  });
  checkLimit('inputBytes', Buffer.byteLength(JSON.stringify(input)), (reason) => {
    refuse('input', `the size of its position ${reason}`);
  });
  for (const { name, shape } of dense) {
    checkLimit('rank', shape.length, (reason) => refuse('shape', `the rank of ${name}: ${reason}`));
  }
  const own = new Set<string>([INDEX_SUFFIX, DATA_SUFFIX]);
  for (const { name, segments, files: shards } of tables) {
    checkLimit('rowSegments', segments.length, (reason) => refuse('segments', `those of ${name}: ${reason}`));
    const floats = weightCountOf(segments) + stateCountOf(segments);
    checkLimit('rowFloats', floats, (reason) => refuse('segments', `the floats of a row of ${name}: ${reason}`));
    checkShards(tableBaseName(name), shards, own, refuse);
  }
  if (space !== undefined) {
    if (space.tables.length !== tables.length) refuse('space', `it tells of ${space.tables.length} tables`);
    const unread = [...space.tables, space.unused].find((text) => parseSpace(text) === undefined);
    if (unread !== undefined) refuse('space', `no memory is cut like this: ${unread.slice(0, 80)}`);
  }
  for (const { name, files: shards } of filters) {
    if (!/^hash_filter_\d+$/.test(name)) refuse('filters', `a filter cannot be called ${name}`);
    checkShards(name, shards, own, refuse);
  }
  const stray = files.find(({ suffix }) => !own.has(suffix));
  if (stray !== undefined) refuse('files', `${stray.suffix} is no file of this checkpoint`);
}

function checkShards(base: string, files: readonly string[], own: Set<string>, refuse: Refuse): void {
  if (base.includes('\0')) refuse('name', `the name of ${base} has a zero byte`);
  files.forEach((file, shard) => {
    const expected = shardFileName(base, shard, files.length);
    if (file !== expected) refuse('files', `file ${shard} of ${base} is ${file}, not ${expected}`);
    own.add(`${ASSETS_SUFFIX}/${file}`);
  });
}
