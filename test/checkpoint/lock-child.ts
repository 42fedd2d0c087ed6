/** @file A process that takes the lock of the directory it was given when told to, and lets go of it when told to. */
import { createInterface } from 'node:readline';
import { MonolithError } from '../../src/base/errors.js';
import { DirLock } from '../../src/checkpoint/dir-lock.js';

const dir = process.argv[2]!;
let lock: DirLock | undefined;

function answer(command: string): string {
  if (command === 'release') {
    lock?.release();
    lock = undefined;
    return 'released';
  }
  try {
    lock = DirLock.take(dir);
    return 'held';
  } catch (error) {
    return error instanceof MonolithError ? `${error.code} ${String(error.fields.pid)}` : String(error);
  }
}

createInterface(process.stdin).on('line', (command) => console.log(answer(command)));
console.log('ready');
