/**
 * @file Runs test files, a few at a time, and says what became of them.
 *
 *   npm test -- [part of a path]…           lint, build, then this
 *   npm run test:deep -- [part of a path]…  more rounds of the tests that have them, and those that take long
 *
 * Tests are tap's, and `npx tap FILE` runs one as well. tap's own runner starts every process with loaders for mocks,
 * coverage and source maps: half a second of CPU time for each of 300 files, and more in those that start threads. Here
 * a file is a process of Node.js and nothing else. What a file printed is shown when it failed.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inParallel } from './in-parallel.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FOLDER = 'build/test';
const JOBS = Math.max(3, availableParallelism() >> 1);
/** Of one test, in seconds; tests may set another. */
const TEST_LIMIT = '120';
/** The same with more rounds. */
const DEEP_TEST_LIMIT = '600';
/** Of a file: for a process that hangs. */
const FILE_LIMIT_MS = 15 * 60_000;
const OUTCOMES = ['total', 'pass', 'fail', 'skip', 'todo'];

const counts = Object.fromEntries(OUTCOMES.map((name) => [name, 0]));
const failed = [];
let done = 0;

const args = process.argv.slice(2);
const isDeep = args.includes('--deep');

function testFiles(parts) {
  const names = readdirSync(join(ROOT, FOLDER), { recursive: true }).filter((name) => name.endsWith('.test.js'));
  const paths = names.map((name) => join(FOLDER, name).replaceAll('\\', '/')).sort();
  const chosen = paths.filter((path) => (isDeep ? isForDeep(path) : !path.endsWith('.deep.test.js')));
  return parts.length === 0 ? chosen : chosen.filter((path) => parts.some((part) => path.includes(part)));
}

/** Files that only the deep run has, and those that ask how many rounds to make. */
function isForDeep(path) {
  return (
    path.endsWith('.deep.test.js') || /^import .* from '.*\/rounds\.js'/m.test(readFileSync(join(ROOT, path), 'utf8'))
  );
}

/** What a file prints, and how it ends. */
function run(file) {
  return new Promise((resolve) => {
    const start = performance.now();
    const child = spawn(process.execPath, [file], {
      cwd: ROOT,
      env: {
        TAP_TIMEOUT: isDeep ? DEEP_TEST_LIMIT : TEST_LIMIT,
        ...process.env,
        ...(isDeep && { MONOLITH_TEST_DEEP: '1' }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: FILE_LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        printed += text;
      });
    }
    const end = (status) => resolve({ printed, status, ms: Math.round(performance.now() - start) });
    child.on('error', (error) => {
      printed += error.stack;
      end(error.code);
    });
    child.on('close', (code, signal) => end(code ?? signal));
  });
}

/** Why a file ran no test at all, as `t.plan(0, reason)` of its first level prints it. */
const leftOut = ({ printed, status }) => (status === 0 ? /^1\.\.0 # (\S.*)$/m.exec(printed)?.[1] : undefined);

/**
 * The counts that tap closes with, `# { total: 9, pass: 7, skip: 2 }`. A file that was left out for a reason is one
 * skip, one that did not come so far a failure.
 */
function countsOf({ printed, status }) {
  if (leftOut({ printed, status })) return { total: 1, pass: 0, fail: 0, skip: 1, todo: 0 };
  const line = printed.match(/^# \{ .*\}$/gm)?.at(-1);
  const found = Object.fromEntries(OUTCOMES.map((name) => [name, Number(line?.match(`\\b${name}: (\\d+)`)?.[1] ?? 0)]));
  if (status === 0 ? found.total > 0 : found.fail > 0) return found;
  return { ...found, total: found.total + 1, fail: found.fail + 1 };
}

function report(file, { printed, status, ms }) {
  const found = countsOf({ printed, status });
  for (const name of OUTCOMES) counts[name] += found[name];
  const said = found.fail > 0 ? `${found.fail} of ${found.total} failed, ended with ${status}` : `${found.pass} passed`;
  console.log(`${found.fail > 0 ? 'not ok' : 'ok'} ${++done} - ${file} # time=${ms}ms ${said}`);
  for (const skip of printed.match(/^ *ok .* # SKIP .*$/gm) ?? []) console.log(`    ${skip.trim()}`);
  const reason = leftOut({ printed, status });
  if (reason) console.log(`    ok 1 - ${file} # SKIP ${reason}`);
  if (found.fail === 0) return;
  failed.push(file);
  console.log(printed.trimEnd().replaceAll(/^/gm, '    '));
}

const files = testFiles(args.filter((arg) => !arg.startsWith('--')));
console.log(`TAP version 14\n1..${files.length}`);
await inParallel(files, JOBS, async (file) => report(file, await run(file)));
if (failed.length > 0) console.log(`# failed:\n${failed.map((file) => `#   npx tap ${file}`).join('\n')}`);
const told = OUTCOMES.filter((name) => name === 'total' || counts[name] > 0);
console.log(`# { ${told.map((name) => `${name}: ${counts[name]}`).join(', ')} }`);
console.log(`# time=${Math.round(performance.now())}ms`);
process.exitCode = failed.length > 0 || files.length === 0 ? 1 : 0;
