/**
 * @file The order of the folders of src/ and of the rooms in them: a file imports only from its own room and those
 * before.
 *
 * A room is a folder with the folders below it, down to the next room: `base` is src/base without `base/files`. Names
 * on one line of an inner array stand on a level: neither imports the other.
 */
export const ORDER: readonly (string | readonly string[])[] = [
  'base',
  ['base/params', 'base/files', 'base/rates'],
  'memory',
  'trace',
  'io',
  'tensor',
  'graph',
  'runtime/kernels',
  'runtime/compile',
  'runtime/backends',
  'runtime/backends/reference',
  'runtime/backends/wasm',
  'runtime/backends/cuda',
  'runtime/tables',
  'runtime/pool',
  'runtime/session',
  'sparse/config',
  'sparse/admission',
  'sparse/table',
  ['sparse/steps', 'sparse/files'],
  'sparse/many',
  'optim',
  ['feature/model', 'feature/serving'],
  'layers',
  'queue',
  'data',
  'model',
  'portable',
  'checkpoint',
  ['summary', 'metrics'],
  'train/hooks',
  'train',
  'zoo',
  'train/tasks',
  'recipe',
  'report',
  'cluster',
  'serve',
  'demo',
  'trained',
  ['compat', 'api'],
  ['cli', 'dashboard'],
];

const ranks = new Map(ORDER.flatMap((names, rank) => [names].flat().map((name) => [name, rank] as const)));

/** The room of a file of src/, or null when it is in none: src/index.ts, the public surface, sees everything. */
export function roomOf(file: string): string | null {
  const folders = file.split('/').slice(1, -1);
  while (folders.length > 0 && !ranks.has(folders.join('/'))) folders.pop();
  return folders.length === 0 ? null : folders.join('/');
}

/** Whether a file of the one room may import one of the other. */
export function mayImport(from: string, to: string): boolean {
  return from === to || ranks.get(to)! < ranks.get(from)!;
}
