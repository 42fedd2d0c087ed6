/**
 * @file Formats the C++ and CUDA sources by .clang-format.
 *
 *   npm run format   writes them, with all other sources
 *   npm run lint     names those that are not formatted
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import init, { format } from '@wasm-fmt/clang-format';
import { filesBelow } from '../.ci/digest-files.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDERS = ['cuda/addon/src', 'cuda/kernels', 'cuda/sim'];

await init();
const style = readFileSync(join(ROOT, '.clang-format'), 'utf8');

/** What a source file should look like. */
export function formatted(file, text) {
  // clang-format knows CUDA by this ending.
  return format(text, file.replace(/\.cuh$/, '.cu'), style);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isCheck = process.argv.includes('--check');
  for (const file of FOLDERS.flatMap((folder) => filesBelow(ROOT, folder, /\.(cu|cuh|cc|cpp|h|hpp)$/))) {
    const path = join(ROOT, file);
    const before = readFileSync(path, 'utf8');
    const after = formatted(file, before);
    if (after === before) continue;
    console.log(`${file}: ${isCheck ? 'not formatted: npm run format' : 'formatted'}`);
    if (isCheck) process.exitCode = 1;
    else writeFileSync(path, after);
  }
}
