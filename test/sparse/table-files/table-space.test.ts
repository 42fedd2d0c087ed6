import t from 'tap';
import { PARTITIONS } from '../../../src/memory/table-layout.js';
import {
  formatSpace,
  type PartitionSpace,
  parseSpace,
  runsOf,
  spaceBytes,
} from '../../../src/sparse/files/table-space.js';

const EMPTY: PartitionSpace = { buckets: 0, isSalted: false, blocks: [] };
const withFirst = (text: string) => [text, ...Array.from({ length: PARTITIONS - 1 }, () => '-')].join(' ');

t.test('what partitions take reads as it was written', async (t) => {
  const some: PartitionSpace[] = [
    { buckets: 1, isSalted: false, blocks: runsOf([128]) },
    { buckets: 4096, isSalted: true, blocks: runsOf([128, 256, 512, 512, 512, 256]) },
    { buckets: 8, isSalted: false, blocks: [] },
    { buckets: 0, isSalted: false, blocks: [{ bytes: 64, count: 12 }] },
  ];
  const all = [...some, ...Array.from({ length: PARTITIONS - some.length }, () => EMPTY)];
  const text = formatSpace(all);
  t.match(text, /^0:7 12s:7\.8\.9x3\.8 3: 6x12 - -/);
  t.same(parseSpace(text), all);
  t.equal(spaceBytes(some[1]!), 4096 * 64 + 128 + 256 + 3 * 512 + 256);
});

t.test('other texts are refused', async (t) => {
  t.ok(parseSpace(withFirst('3:7')));
  for (const text of [
    'x',
    '3:5',
    '3:32',
    '3:7x1',
    '3:7x0',
    '3:07',
    '3:7.',
    '26s:31x2',
    '3:7x99999999',
    '-1:7',
    '3:7,8',
  ]) {
    t.equal(parseSpace(withFirst(text)), undefined, text);
  }
  t.equal(parseSpace(''), undefined);
  t.equal(parseSpace('-'), undefined, 'too few partitions');
  t.equal(parseSpace(`${withFirst('3:7')} -`), undefined, 'too many');
});
