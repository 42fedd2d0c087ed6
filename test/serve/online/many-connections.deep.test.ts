/** @file Ten thousand connections that say nothing or little, or as many as files may be open. */
import t from 'tap';
import { openFilesMax } from '../../../src/base/open-files.js';
import { connectionsThatFit } from '../../../src/serve/online/bound-connections.js';
import { manyConnections } from './many-connections.js';

t.test('ten thousand connections do a server no harm', async (t) => {
  const count = connectionsThatFit(10_000);
  t.comment(`${count} connections, ${openFilesMax() ?? 'any number of'} open files`);
  await manyConnections(t, count);
});
