/**
 * @file Lets processes that would write the same files do so one after the other.
 *
 * Each puts a file of its own into a folder, then looks who else is there: the later of two always sees the earlier,
 * and goes away again for a moment. Files of processes that are gone are removed, which is safe because no name is used
 * twice.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Runs `action` while no other process is in `folder`; gives up after `limitMs`. */
export async function takeTurns(folder, limitMs, action) {
  const name = `${process.pid}-${randomUUID()}`;
  const end = Date.now() + limitMs;
  mkdirSync(folder, { recursive: true });
  for (;;) {
    writeFileSync(join(folder, name), '');
    const other = readdirSync(folder).find((entry) => entry !== name && isTaken(folder, entry, limitMs));
    if (other === undefined) break;
    rmSync(join(folder, name));
    if (Date.now() > end) throw new Error(`process ${Number.parseInt(other, 10)} has had ${folder} for too long`);
    // Of two that went away at the same time one comes back first.
    await sleep(50 + Math.random() * 150);
  }
  try {
    return await action();
  } finally {
    rmSync(join(folder, name), { force: true });
  }
}

/** Whether the process of an entry may be at work. What is left of others is removed. */
function isTaken(folder, entry, limitMs) {
  const path = join(folder, entry);
  const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (since === undefined) return false;
  // A process id may have been given to another process since: nobody builds for longer than the limit.
  if (isAlive(Number.parseInt(entry, 10)) && Date.now() - since < limitMs) return true;
  rmSync(path, { force: true });
  return false;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return thrown.code === 'EPERM'; // another user's
  }
}
