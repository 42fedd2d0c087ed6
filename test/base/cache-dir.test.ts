import { join } from 'node:path';
import t from 'tap';
import { cacheDir, type UserMachine } from '../../src/base/files/cache-dir.js';

const machine: UserMachine = { env: {}, platform: 'linux', home: () => '/home/u' };
const dirOf = (changes: Partial<UserMachine>) => cacheDir({ ...machine, ...changes });

t.test('each platform has its place, and XDG_CACHE_HOME goes before it', async (t) => {
  t.equal(dirOf({}), join('/home/u', '.cache', 'monolith-ts'));
  t.equal(dirOf({ platform: 'darwin' }), join('/home/u', 'Library', 'Caches', 'monolith-ts'));
  t.equal(dirOf({ platform: 'win32' }), join('/home/u', 'AppData', 'Local', 'monolith-ts'));
  const env = { XDG_CACHE_HOME: '/x', LOCALAPPDATA: '/local' };
  t.equal(dirOf({ env: { LOCALAPPDATA: '/local' }, platform: 'win32' }), join('/local', 'monolith-ts'));
  t.equal(dirOf({ env: { LOCALAPPDATA: '/local' } }), join('/home/u', '.cache', 'monolith-ts'), 'of Windows alone');
  for (const platform of ['linux', 'darwin', 'win32'] as const) {
    t.equal(dirOf({ env, platform }), join('/x', 'monolith-ts'), platform);
  }
});

t.test('a relative XDG_CACHE_HOME is passed over, and so is a home that is none', async (t) => {
  t.equal(dirOf({ env: { XDG_CACHE_HOME: 'cache' } }), join('/home/u', '.cache', 'monolith-ts'));
  t.equal(dirOf({ env: { XDG_CACHE_HOME: '' } }), join('/home/u', '.cache', 'monolith-ts'));
  t.equal(dirOf({ home: () => '' }), null);
  const unknown = () => {
    throw new Error('no such user');
  };
  t.equal(dirOf({ home: unknown }), null);
  t.equal(dirOf({ home: unknown, env: { XDG_CACHE_HOME: '/x' } }), join('/x', 'monolith-ts'));
});
