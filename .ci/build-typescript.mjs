/**
 * @file Compiles what tsconfig.json includes, when something has changed since the last time. What the package
 * consists of is bundled in place of what the compiler makes of it.
 *
 * The compiler has a memory of its own (`incremental`), but takes seconds to find out that there is nothing to do,
 * writes nothing for outputs that are gone, and leaves those of sources that are gone.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { BundleFiles, CHUNKS, isBundled } from './bundle-files.mjs';
import { digestFiles, filesBelow } from './digest-files.mjs';

const MEMORY = '.tsbuildinfo';
const STAMP = '.typescript.sha256';
const OUTPUT = /\.(js|d\.ts|js\.map)$/;
const require = createRequire(import.meta.url);

/** Builds into `build` of `root`. Returns whether there was something to do. */
export async function buildTypeScript(root) {
  const out = join(root, 'build');
  const { include: folders, exclude = [] } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  const isIn = (name) => !exclude.some((folder) => name.startsWith(`${folder}/`));
  const sources = folders.flatMap((folder) => filesBelow(root, folder, /\.ts$/)).filter(isIn);
  const compiled = sources.filter((name) => !name.endsWith('.d.ts'));
  const joined = new Set(compiled.filter(isBundled));
  const bundled = new BundleFiles(root, [...joined]);
  // Types of dependencies and the compiler are as package-lock.json says.
  const named = ['package.json', 'package-lock.json', 'tsconfig.json'];
  const others = sources.filter((name) => !joined.has(name));
  const digest = digestFiles(root, [...named, ...others], bundled.digest);
  const expected = new Set([...compiled.flatMap(outputsOf), ...bundled.files]);

  removeOthers(out, [...folders, CHUNKS], expected);
  const isWhole = [...expected].every((name) => existsSync(join(out, name)));
  if (isWhole && bundled.isCurrent && readStamp(out) === stamp(out, digest)) return false;
  if (!isWhole) rmSync(join(out, MEMORY), { force: true });
  rmSync(join(out, STAMP), { force: true });
  mkdirSync(out, { recursive: true });
  await bundled.writeAfter(() => runCompiler(root, join(root, 'tsconfig.json')));
  removeOthers(out, [...folders, CHUNKS], new Set([...compiled.flatMap(outputsOf), ...bundled.files]));
  writeFileSync(join(out, STAMP), stamp(out, digest));
  return true;
}

/** What the compiler leaves: maps of what is bundled are the bundle's. */
function outputsOf(name) {
  const endings = isBundled(name) ? ['.js', '.d.ts'] : ['.js', '.d.ts', '.js.map'];
  return endings.map((ending) => name.replace(/\.ts$/, ending));
}

/** The memory is part of it: whoever calls the compiler directly makes another. */
function stamp(out, digest) {
  return existsSync(join(out, MEMORY)) ? `${digest} ${digestFiles(out, [MEMORY])}` : '';
}

function readStamp(out) {
  return existsSync(join(out, STAMP)) ? readFileSync(join(out, STAMP), 'utf8') : undefined;
}

/** Removes outputs whose sources are gone: tests would run them, and imports of them would still work. */
function removeOthers(out, folders, expected) {
  for (const folder of folders.filter((name) => existsSync(join(out, name)))) {
    for (const name of filesBelow(out, folder, OUTPUT)) {
      if (expected.has(name)) continue;
      rmSync(join(out, name));
      removeEmpty(dirname(join(out, name)));
    }
  }
}

function removeEmpty(folder) {
  try {
    rmdirSync(folder);
  } catch {
    return; // it holds something
  }
  removeEmpty(dirname(folder));
}

/** Runs the compiler on what `config` includes. */
export function runCompiler(root, config) {
  return new Promise((resolve, reject) => {
    // The compiler's package exports its package.json and not its command.
    const compiler = join(dirname(require.resolve('typescript-native/package.json')), 'bin/tsc');
    const args = [compiler, '-p', config];
    const tsc = spawn(process.execPath, args, { cwd: root, stdio: 'inherit' });
    tsc.on('error', reject);
    tsc.on('exit', (code) => (code === 0 ? resolve() : reject(new Error('TypeScript failed'))));
  });
}
