/**
 * @file Builds what has changed: kernels from assembly/, scripts of pages from src/report/browser/, JavaScript from
 * the rest.
 *
 *   npm run build        all
 *   npm run build:wasm   the kernels
 *   npm run build:ts     what TypeScript compiles
 *
 * It is called by `npm ci`, `npm test`, `npm pack` and the first `npx monolith` in a checkout, all of which find
 * nothing to do after the first. Calls at the same time take turns.
 */
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildKernels } from '../assembly/build.mjs';
import { buildPages } from './build-pages.mjs';
import { buildTypeScript } from './build-typescript.mjs';
import { takeTurns } from './take-turns.mjs';

const LIMIT_MS = 15 * 60_000;
const PARTS = { wasm: buildKernels, ts: buildTypeScript, pages: buildPages };

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const asked = process.argv.slice(2);
const names = asked.length > 0 ? asked : Object.keys(PARTS);
try {
  for (const name of names) if (PARTS[name] === undefined) throw new Error(`there is no part ${name}`);
  await takeTurns(join(root, '.build-lock'), LIMIT_MS, () => Promise.all(names.map((name) => PARTS[name](root))));
} catch (thrown) {
  console.error(`build: ${thrown.message}`);
  process.exitCode = 1;
}
