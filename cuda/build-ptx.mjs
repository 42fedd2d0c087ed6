/**
 * @file Compiles cuda/kernels/*.cu to cuda/ptx, which is kept in the repository: users need no CUDA toolkit.
 *
 *   npm run build:ptx               compile, lower the PTX version, assemble for every architecture, write
 *   node cuda/build-ptx.mjs --check compile and compare with what is there; writes nothing
 *
 * PTX is for compute capability 7.5 and newer. nvcc writes the PTX version of its own release, which older drivers
 * refuse, so the line is lowered; ptxas refuses instructions that the lower version does not have.
 */
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inParallel } from '../.ci/in-parallel.mjs';
import { remember } from './remember.mjs';

const CUDA = dirname(fileURLToPath(import.meta.url));
const KERNELS = join(CUDA, 'kernels');
const PTX = join(CUDA, 'ptx');
const MANIFEST = join(PTX, 'manifest.json');
const PTX_VERSION = '7.0';
const FLAGS = ['-ptx', '-arch=compute_75', '--fmad=false'];
const LIMIT_MS = 5 * 60_000;
export const ARCHITECTURES = ['sm_75', 'sm_80', 'sm_86', 'sm_89', 'sm_90', 'sm_100', 'sm_120'];

async function run(program, args) {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, { timeout: LIMIT_MS, maxBuffer: 2 ** 26 });
    return `${stdout}${stderr}`;
  } catch (error) {
    throw new Error(`${program} ${args.join(' ')}: ${error.stdout ?? ''}${error.stderr || error.message}`);
  }
}

/** nvcc and ptxas as they name themselves, or null when one of them is not there. */
export function compilerVersion() {
  const [nvcc, ptxas] = ['nvcc', 'ptxas'].map(buildOf);
  return nvcc === null || ptxas === null ? null : nvcc;
}

function buildOf(program) {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: LIMIT_MS });
  return /Build (\S+)/.exec(stdout ?? '')?.[1] ?? null;
}

/** Names of the modules: one for each .cu. */
export function moduleNames() {
  return readdirSync(KERNELS)
    .filter((name) => name.endsWith('.cu'))
    .map((name) => name.slice(0, -3))
    .sort();
}

/** A digest of a module's sources and of how they are compiled. Headers count for all modules. */
export function sourceDigest(module) {
  const hash = createHash('sha256').update([...FLAGS, PTX_VERSION].join(' '));
  const headers = readdirSync(KERNELS)
    .filter((name) => name.endsWith('.cuh'))
    .sort();
  for (const name of [`${module}.cu`, ...headers]) hash.update(`\0${name}\0`).update(readFileSync(join(KERNELS, name)));
  return hash.digest('hex');
}

export const textDigest = (text) => createHash('sha256').update(text).digest('hex');

/** The PTX of a module as it is kept: without the comment of the compiler's build, with the lower version. */
export async function compile(module, dir) {
  const out = join(dir, `${module}.ptx`);
  await run('nvcc', [...FLAGS, '-o', out, join(KERNELS, `${module}.cu`)]);
  const ptx = readFileSync(out, 'utf8')
    .replace(/^\.version .*$/m, `.version ${PTX_VERSION}`)
    // A hint which bytes of a vector load are used, which versions before 8.3 do not know.
    .replace(/^\s*\.pragma "used_bytes_mask .*\n/gm, '')
    // Names of static functions carry a digest of where the source lies, which must not show.
    .replace(/_INTERNAL_[0-9a-f]{8}_/g, '_INTERNAL_00000000_');
  const body = ptx.slice(ptx.indexOf('.version'));
  const text = `// ${module}.cu, compiled by npm run build:ptx. Do not edit.\n${body}`;
  writeFileSync(out, text);
  return text;
}

/** What ptxas says about each kernel of a file on an architecture. */
export async function assemble(file, architecture) {
  const output = await run('ptxas', [`-arch=${architecture}`, '-v', file, '-o', '/dev/null']);
  const number = (text, pattern) => Number(pattern.exec(text)?.[1] ?? 0);
  return output
    .split(/Compiling entry function '/)
    .slice(1)
    .map((text) => ({
      kernel: text.slice(0, text.indexOf("'")),
      registers: number(text, /Used (\d+) registers/),
      stackBytes: number(text, /(\d+) bytes stack frame/),
      spillBytes: number(text, /(\d+) bytes spill stores/) + number(text, /(\d+) bytes spill loads/),
      sharedBytes: number(text, /(\d+) bytes smem/),
    }));
}

/** Digests of what nvcc makes of the sources of each module, as they are; asked again when sources or nvcc change. */
export async function compiledDigests() {
  const nvcc = buildOf('nvcc');
  return everywhere(moduleNames(), (module) =>
    remember(['compile', nvcc, module, sourceDigest(module)], async () => {
      const dir = mkdtempSync(join(tmpdir(), 'monolith-ptx-'));
      try {
        return { module, digest: textDigest(await compile(module, dir)) };
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    }),
  );
}

/**
 * What ptxas says about the kernels of every kept module on every architecture; asked again when PTX or ptxas change.
 */
export async function assembleAll() {
  const ptxas = buildOf('ptxas');
  const jobs = moduleNames().flatMap((module) => ARCHITECTURES.map((architecture) => ({ module, architecture })));
  return everywhere(jobs, ({ module, architecture }) => {
    const file = ptxPath(module);
    return remember(['assemble', ptxas, architecture, readFileSync(file, 'utf8')], async () => ({
      module,
      architecture,
      kernels: await assemble(file, architecture),
    }));
  });
}

/** One process for each core; the first to fail ends it. */
const everywhere = (items, work) => inParallel(items, availableParallelism(), work);

export const readManifest = () => JSON.parse(readFileSync(MANIFEST, 'utf8'));
export const ptxPath = (module) => join(PTX, `${module}.ptx`);

async function main() {
  const version = compilerVersion();
  if (version === null) throw new Error('nvcc and ptxas are not installed');
  const isCheck = process.argv.includes('--check');
  const dir = mkdtempSync(join(tmpdir(), 'monolith-ptx-'));
  const modules = {};
  try {
    for (const module of moduleNames()) {
      const text = await compile(module, dir);
      if (isCheck && text !== readFileSync(ptxPath(module), 'utf8'))
        throw new Error(`${module}.ptx is not what nvcc writes`);
      if (isCheck) continue;
      for (const architecture of ARCHITECTURES) {
        for (const { kernel, stackBytes, spillBytes } of await assemble(join(dir, `${module}.ptx`), architecture)) {
          if (stackBytes + spillBytes > 0) throw new Error(`${kernel} spills on ${architecture}`);
        }
      }
      modules[module] = { source: sourceDigest(module), ptx: textDigest(text) };
      mkdirSync(PTX, { recursive: true });
      writeFileSync(ptxPath(module), text);
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  if (isCheck) return;
  for (const name of readdirSync(PTX))
    if (name.endsWith('.ptx') && !(name.slice(0, -4) in modules)) rmSync(join(PTX, name));
  const manifest = { compiler: version, flags: FLAGS, ptxVersion: PTX_VERSION, architectures: ARCHITECTURES, modules };
  writeFileSync(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main();
  console.log('cuda: PTX is up to date');
}
