/**
 * @file A function that is profiled whenever it is called (test_utils.profile_it).
 *
 * The profile is of the main thread, in the format of Node.js, which the tools of a browser open. Pool threads run
 * WebAssembly, which it does not see: a trace shows those (docs/tracing.md).
 */
import { join } from 'node:path';
import { checkOptions } from '../base/check-options.js';
import { writeFileAtomic } from '../base/files/atomic-file.js';
import { makeDirectory } from '../base/files/make-directory.js';
import { getTestTmpDir } from '../base/files/paths.js';
import { log } from '../base/log.js';

export interface ProfileOptions {
  /** Folder of the profiles. Default: tests_profile in the folder for files of tests. */
  readonly dir?: string;
}

let made = 0;

/**
 * `fn` with a profile of each call, which is in a file of its own when the call is over, also with an error.
 *
 * ```ts
 * const trained = await profileIt(train, { dir: 'profiles' })(steps);
 * ```
 */
export function profileIt<Args extends unknown[], T>(
  fn: (...args: Args) => T | Promise<T>,
  options: ProfileOptions = {},
): (...args: Args) => Promise<T> {
  const { dir = join(getTestTmpDir(), 'tests_profile') } = checkOptions('profileIt', options, ['dir']);
  return async (...args) => {
    const { Session } = await import('node:inspector/promises');
    const session = new Session();
    session.connect();
    try {
      await session.post('Profiler.enable');
      await session.post('Profiler.start');
      try {
        return await fn(...args);
      } finally {
        const { profile } = await session.post('Profiler.stop');
        await makeDirectory(dir);
        const file = join(dir, `${fn.name || 'fn'}-${process.pid}-${++made}.cpuprofile`);
        await writeFileAtomic(file, JSON.stringify(profile));
        log.info('profile written', { file });
      }
    } finally {
      session.disconnect();
    }
  };
}
