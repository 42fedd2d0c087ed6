/**
 * @file Builds every target of asconfig.json, as many at once as there are cores. A target that is newer than all
 * sources is left as it is; `--force` builds it again.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CONFIG = join(ROOT, 'asconfig.json');
const ASC = join(ROOT, 'node_modules/assemblyscript/bin/asc.js');

const { targets } = JSON.parse(readFileSync(CONFIG, 'utf8'));
const sources = readdirSync(join(ROOT, 'assembly'), { recursive: true }).map((name) => join(ROOT, 'assembly', name));
const newest = Math.max(...[CONFIG, ASC, ...sources].map((file) => statSync(file).mtimeMs));
const force = process.argv.includes('--force');
const isCurrent = ({ outFile }) =>
  (statSync(join(ROOT, outFile), { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY) > newest;

function compile(target) {
  return new Promise((resolve, reject) => {
    const asc = spawn(process.execPath, [ASC, '--config', CONFIG, '--target', target], { cwd: ROOT, stdio: 'inherit' });
    asc.on('error', reject);
    asc.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`target ${target} failed`))));
  });
}

const waiting = Object.keys(targets).filter((target) => force || !isCurrent(targets[target]));
async function work() {
  for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) await compile(target);
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
