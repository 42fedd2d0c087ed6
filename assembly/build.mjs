/** @file Builds every target of asconfig.json, as many at once as there are cores, when something has changed. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { digestFiles, filesBelow } from '../.ci/digest-files.mjs';
import { inParallel } from '../.ci/in-parallel.mjs';

const STAMP = 'build/.kernels.sha256';
const require = createRequire(import.meta.url);

/** Builds into `build` of `root`. Returns whether there was something to do. */
export async function buildKernels(root) {
  const { targets } = JSON.parse(readFileSync(join(root, 'asconfig.json'), 'utf8'));
  const { version } = require('assemblyscript/package.json');
  const digest = digestFiles(
    root,
    ['asconfig.json', 'assembly/build.mjs', ...filesBelow(root, 'assembly', /\.ts$/)],
    version,
  );
  const stamp = join(root, STAMP);
  const isWhole = Object.values(targets).every(({ outFile }) => existsSync(join(root, outFile)));
  if (isWhole && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return false;
  rmSync(stamp, { force: true });
  mkdirSync(join(root, 'build'), { recursive: true });
  await inParallel(Object.entries(targets), availableParallelism(), ([name, { outFile }]) =>
    compile(root, name, outFile),
  );
  writeFileSync(stamp, digest);
  return true;
}

/** A module gets its name when it is whole: somebody may be loading the one before. */
async function compile(root, target, outFile) {
  const asc = join(require.resolve('assemblyscript/package.json'), '../bin/asc.js');
  const part = `${outFile}.part`;
  const args = [asc, '--config', 'asconfig.json', '--target', target, '--outFile', part];
  const code = await new Promise((resolve, reject) => {
    spawn(process.execPath, args, { cwd: root, stdio: 'inherit' }).on('error', reject).on('exit', resolve);
  });
  if (code !== 0) throw new Error(`kernels: target ${target} failed`);
  appendFileSync(join(root, part), customSection('kernels', tableDigest(root)));
  renameSync(join(root, part), join(root, outFile));
}

/** Says which kernel table a module was built for: kernelTableDigest() of src/runtime/kernels, from the dispatch. */
function tableDigest(root) {
  const dispatch = readFileSync(join(root, 'assembly/generated/dispatch.ts'), 'utf8');
  const cases = dispatch.split(/^ {4}case (?=\d)/m).slice(1);
  const lines = cases.map((text) => {
    const [, opcode, name] = /^(\d+): \/\/ (\w+)$/m.exec(text);
    const words = [...text.matchAll(/\b([uf])\(o, r, \d+\)/g)].map(([, letter]) => letter);
    return `${opcode} ${name} ${words.join('')}\n`;
  });
  return createHash('sha256').update(lines.join('')).digest('hex').slice(0, 16);
}

/** A section of a module that engines pass over. Name and text are short: a byte has their lengths. */
function customSection(name, text) {
  const content = Buffer.concat([Buffer.of(name.length), Buffer.from(name + text)]);
  return Buffer.concat([Buffer.of(0, content.length), content]);
}
