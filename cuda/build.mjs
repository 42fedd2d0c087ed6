/**
 * @file Builds the addon and the simulated driver with node-gyp, when they are not up to date.
 *
 *   npm run build:cuda              build; fails when it cannot
 *   node cuda/build.mjs --optional  build if possible, say in one line what came of it, and never fail
 *   node cuda/build.mjs --prebuild  build, then copy the result to cuda/addon/prebuilds for a package
 *
 * The gyp file is here and not in the root, because npm runs node-gyp by itself for a package that has one there.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { takeTurns } from '../.ci/take-turns.mjs';

const CUDA = dirname(fileURLToPath(import.meta.url));
const ADDON = join(CUDA, 'addon');
const RELEASE = join(ADDON, 'build', 'Release');
const STAMP = join(ADDON, 'build', 'sources.sha256');
const LOCK = join(ADDON, '.build-lock');
const OUTPUTS = ['cuda_driver.node', 'cuda_sim.so'];
const BUILD_LIMIT_MS = 15 * 60_000;

const optional = process.argv.includes('--optional');
const require = createRequire(import.meta.url);

/** A digest of everything the result depends on. */
function digest() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${process.env.CXX ?? ''}`);
  const files = [
    join(ADDON, 'binding.gyp'),
    ...readdirSync(join(ADDON, 'src')).map((name) => join(ADDON, 'src', name)),
    ...readdirSync(join(CUDA, 'sim')).map((name) => join(CUDA, 'sim', name)),
  ];
  for (const file of files.sort()) hash.update(`${file.slice(CUDA.length)}\0`).update(readFileSync(file));
  return hash.digest('hex');
}

const isBuilt = () => OUTPUTS.every((name) => existsSync(join(RELEASE, name)));
const isCurrent = (sources) => isBuilt() && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === sources;

function findProgram(names) {
  const dirs = (process.env.PATH ?? '').split(delimiter).filter((dir) => dir !== '');
  return names.find((name) => dirs.some((dir) => existsSync(join(dir, name))));
}

/** What is missing to build, or null. */
function missing() {
  if (process.platform !== 'linux') return `${process.platform} is not supported`;
  if (process.env.CXX === undefined && !findProgram(['g++', 'c++', 'clang++'])) return 'there is no C++ compiler';
  if (!findProgram(['make'])) return 'there is no make';
  if (!findProgram(['python3', 'python'])) return 'there is no Python for node-gyp';
  if (gypPath() === null) return 'there is no node-gyp: call this by `npm run`';
  return null;
}

/**
 * node-gyp of this repository, or the one of the npm that runs this script: an installed package has none of its own.
 */
function gypPath() {
  try {
    return require.resolve('node-gyp/bin/node-gyp.js');
  } catch {
    return process.env.npm_config_node_gyp ?? null;
  }
}

/** Headers next to the running node spare a download. npm sets npm_config_nodedir when it knows better. */
function headerArgs() {
  if (process.env.npm_config_nodedir !== undefined) return [];
  const prefix = dirname(dirname(process.execPath));
  return existsSync(join(prefix, 'include', 'node', 'node_api.h')) ? [`--nodedir=${prefix}`] : [];
}

/** Runs node-gyp. Returns what went wrong, or null. */
function build() {
  const args = [gypPath(), 'configure', 'build', '-C', ADDON, '--jobs', '2', ...headerArgs()];
  const { status, stdout, stderr, error } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: BUILD_LIMIT_MS,
    maxBuffer: 2 ** 26,
  });
  if (status === 0 && isBuilt()) return null;
  if (!optional) process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`);
  const lines = `${stderr ?? ''}`.split('\n');
  const line = lines.find((text) => /error:/.test(text)) ?? lines.find((text) => /ERR! stack/.test(text));
  return (error?.message ?? line ?? `node-gyp ended with ${status}`).trim();
}

function prebuild() {
  const dir = join(ADDON, 'prebuilds', `${process.platform}-${process.arch}`);
  mkdirSync(dir, { recursive: true });
  copyFileSync(join(RELEASE, OUTPUTS[0]), join(dir, 'monolith-ts.napi.node'));
  copyFileSync(join(RELEASE, OUTPUTS[1]), join(dir, OUTPUTS[1]));
  for (const name of readdirSync(dir)) spawnSync('strip', ['--strip-unneeded', join(dir, name)]);
}

async function main() {
  const sources = digest();
  if (isCurrent(sources)) return null;
  const lacking = missing();
  if (lacking !== null) return lacking;
  return takeTurns(LOCK, BUILD_LIMIT_MS, () => {
    if (isCurrent(sources)) return null; // another process has done it meanwhile
    const problem = build();
    if (problem === null) writeFileSync(STAMP, sources);
    return problem;
  });
}

let problem;
try {
  problem = await main();
  if (problem === null && process.argv.includes('--prebuild')) prebuild();
} catch (thrown) {
  problem = thrown instanceof Error ? thrown.message : String(thrown);
}
if (problem === null) {
  console.log('cuda: addon and simulator are built');
} else {
  console.log(`cuda: the GPU backend is not built (${problem}); the CPU backend works`);
  process.exitCode = optional ? 0 : 1;
}
