/** @file Builds every target of asconfig.json, as many at once as there are cores, when something has changed. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
  const digest = digestFiles(root, ['asconfig.json', ...filesBelow(root, 'assembly', /\.ts$/)], version);
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
  renameSync(join(root, part), join(root, outFile));
}
