/**
 * @file `npm run test:nodes`: a short but telling suite on every Node.js that people have, and on Deno and Bun.
 *
 * Prints lines of tap and closes with the one that .ci/run adds up. A version that cannot be had is said loudly; where
 * MONOLITH_TEST_REQUIRE names `nodes` it is a failure.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { missing } from '../requirement.js';
import { getRuntime, NODES, OTHERS, type Runtime } from './runtimes.js';
import { casesOf, Place } from './suite.js';

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/monolith-nodes', import.meta.url));

const counts = { total: 0, pass: 0, fail: 0, skip: 0 };

function report(outcome: 'pass' | 'fail' | 'skip', text: string, detail = ''): void {
  counts[outcome]++;
  console.log(`${outcome === 'fail' ? 'not ok' : 'ok'} ${++counts.total} - ${text}`);
  if (detail !== '') console.log(detail.replaceAll(/^/gm, '  # '));
}

/** Reports a failure unless there is none. */
async function tell(text: string, body: () => Promise<void>): Promise<void> {
  const start = performance.now();
  try {
    await body();
    report('pass', `${text} # time=${Math.round(performance.now() - start)}ms`);
  } catch (thrown) {
    report('fail', text, thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
  }
}

function isRuntime(name: string, found: Runtime | string, isPromised: boolean): found is Runtime {
  if (typeof found !== 'string') return true;
  try {
    report('skip', `${name} # SKIP ${isPromised ? missing('nodes', found) : found}`);
  } catch (thrown) {
    report('fail', name, String(thrown));
  }
  return false;
}

const sources = [...NODES, ...OTHERS];
const found = await Promise.all(sources.map((source) => getRuntime(source, CACHE)));
const dir = mkdtempSync(join(tmpdir(), 'monolith-nodes-'));
/** What the first runtime found: the others must find the same. */
const expected = new Map<string, unknown>();
try {
  for (const [i, runtime] of found.entries()) {
    const { name } = sources[i]!;
    if (!isRuntime(name, runtime, i < NODES.length)) continue;
    const place = new Place(runtime, join(dir, name));
    for (const { name: sentence, run } of casesOf(place)) {
      await tell(`${runtime.name}: ${sentence}`, async () => {
        const result = await run(place);
        if (!expected.has(sentence)) expected.set(sentence, result);
        if (isDeepStrictEqual(result, expected.get(sentence))) return;
        throw new Error(`not the same as before: ${JSON.stringify({ result, before: expected.get(sentence) })}`);
      });
    }
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
console.log(`1..${counts.total}`);
const said = Object.entries(counts).filter(([key, count]) => key === 'total' || count > 0);
console.log(`# { ${said.map(([key, count]) => `${key}: ${count}`).join(', ')} }`);
process.exitCode = counts.fail > 0 ? 1 : 0;
