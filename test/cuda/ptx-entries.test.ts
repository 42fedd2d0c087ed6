import t from 'tap';
import { parseEntries } from '../../src/runtime/backends/cuda/ptx-entries.js';
import { fixture } from './simulated.js';

t.test('parameters are laid out as the driver expects them', async (t) => {
  const entries = parseEntries(fixture('faults.ptx'));
  const { params, paramSize, threadsMax } = entries.get('takesMuch')!;
  t.same(
    params.map(({ kind, elementSize, size, offset }) => [kind + elementSize * 8, size, offset]),
    [
      ['u8', 1, 0],
      ['u16', 2, 2],
      ['u32', 4, 4],
      ['u64', 8, 8],
      ['f32', 4, 16],
      ['f64', 8, 24],
      ['b8', 16, 32],
      ['u64', 8, 48],
    ],
  );
  t.equal(paramSize, 56);
  t.equal(threadsMax, 1024);
  t.equal(entries.get('sixtyFour')!.threadsMax, 64);
});

t.test('every kernel of a module is found, with comments and odd spacing', async (t) => {
  t.same([...parseEntries(fixture('kernels.ptx')).keys()].sort(), [
    'adagradRows',
    'adam',
    'atomics',
    'blockScan',
    'functions',
    'halves',
    'hashInsert',
    'integers',
    'lastBlock',
    'matMul',
    'nothing',
    'segmentSum',
    'spinLock',
    'sumSquares',
    'votes',
  ]);
  const odd =
    '/* .entry a(.param .u32 x) { */ .entry b // c\n( .param .u64 .ptr .global .align 16 b_0 ,\n.param.b8 z)\n{';
  t.throws(() => parseEntries(odd), SyntaxError);
  const fine =
    '.visible .entry b // .entry c\n( .param .u64 .ptr .global .align 16 b_0 ,\n' +
    ' .param .align 8 .b8 z[ 12 ] )\n.reqntid 8, 4\n{';
  t.match(parseEntries(fine).get('b'), {
    paramSize: 20,
    threadsMax: 32,
    params: [{ offset: 0 }, { offset: 8, size: 12 }],
  });
  t.equal(parseEntries('.entry none()\n{').get('none')!.paramSize, 0);
});
