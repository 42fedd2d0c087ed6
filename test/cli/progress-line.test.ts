import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import {
  barLine,
  bytesText,
  counted,
  durationText,
  lossText,
  type Progress,
  percentText,
  plainLine,
  rateText,
} from '../../src/cli/progress-line.js';

const progress: Progress = {
  startStep: 0,
  step: 840,
  endStep: 2000,
  loss: 0.6871,
  stepsPerS: 1234,
  examplesPerS: 78_976,
  etaS: 0.94,
};

t.test('the bar shows less on narrower terminals', async (t) => {
  const line = (columns: number) => barLine(progress, { columns, color: false });
  t.equal(
    line(120),
    ' 42%  [============>                 ]  840/2000  1234 steps/s  79.0k examples/s  loss 0.6871  ETA 1s',
  );
  t.equal(line(90), ' 42%  [=======>          ]  840/2000  1234 steps/s  79.0k examples/s  loss 0.6871  ETA 1s');
  t.equal(line(80), ' 42%  [===>    ]  840/2000  1234 steps/s  79.0k examples/s  loss 0.6871  ETA 1s');
  t.equal(line(70), ' 42%  [=====>      ]  840/2000  79.0k examples/s  loss 0.6871  ETA 1s');
  t.equal(line(48), ' 42%  [===>    ]  840/2000  loss 0.6871  ETA 1s');
  t.equal(line(40), ' 42%  840/2000  loss 0.6871  ETA 1s');
  t.equal(line(30), ' 42%  840/2000  ETA 1s');
  t.equal(line(16), ' 42%  840/2000');
  t.equal(line(5), ' 42%');
  t.equal(line(3), '42');
});

t.test('colour wraps the drawn part of the bar only and can be taken out again', async (t) => {
  const colored = barLine(progress, { columns: 90, color: true });
  t.ok(colored.includes('[\x1b[32m=======>\x1b[39m '));
  t.equal(stripVTControlCharacters(colored), barLine(progress, { columns: 90, color: false }));
});

t.test('the bar never reaches the last column, whatever the numbers', async (t) => {
  const number = fc.oneof(
    fc.nat(),
    fc.double({ min: 0, max: 1e12, noNaN: true }),
    fc.constant(Number.POSITIVE_INFINITY),
  );
  const anyProgress = fc.record({
    startStep: fc.nat(),
    step: fc.nat(),
    endStep: fc.nat(),
    loss: fc.double(),
    stepsPerS: number,
    examplesPerS: number,
    etaS: fc.option(number),
  });
  const property = fc.property(anyProgress, fc.integer({ min: 1, max: 250 }), (state, columns) => {
    const { length } = barLine(state, { columns, color: false });
    return length >= 1 && length <= Math.max(1, columns - 1);
  });
  t.doesNotThrow(() => fc.assert(property));
});

t.test('percent counts the steps of this run and says 100 only at the end', async (t) => {
  const at = (step: number) => percentText({ ...progress, startStep: 1000, endStep: 2000, step });
  t.equal(at(1000), '0%');
  t.equal(at(1500), '50%');
  t.equal(at(1999), '99%');
  t.equal(at(2000), '100%');
  t.equal(at(5000), '100%');
  t.equal(percentText({ ...progress, startStep: 5, step: 5, endStep: 5 }), '100%');
});

t.test('a line for a file has every number', async (t) => {
  t.equal(plainLine(progress), 'step 840/2000  42%  loss 0.6871  1234 steps/s  79.0k examples/s  ETA 1s');
  t.match(plainLine({ ...progress, etaS: null }), /ETA -$/);
});

t.test('rates, times, losses and sizes are short', async (t) => {
  t.same([counted(0, 'step'), counted(1, 'step'), counted(2, 'step')], ['0 steps', '1 step', '2 steps']);
  t.same([0, 9.96, 99.94, 99.96, 9999.4, 9999.6, 999_949, 999_951, Number.NaN].map(rateText), [
    '0.0',
    '10.0',
    '99.9',
    '100',
    '9999',
    '10.0k',
    '999.9k',
    '1.0M',
    '-',
  ]);
  t.same([null, 0, 0.2, 59, 59.5, 185, 3599.5, 7620, 86_400, 356_400, Number.POSITIVE_INFINITY].map(durationText), [
    '-',
    '0s',
    '1s',
    '59s',
    '1m00s',
    '3m05s',
    '1h00m',
    '2h07m',
    '1d00h',
    '4d03h',
    '-',
  ]);
  t.same([0, 0.6871, -1.5, 0.00012, 123_456, Number.NaN].map(lossText), [
    '0.0000',
    '0.6871',
    '-1.5000',
    '1.200e-4',
    '1.235e+5',
    'NaN',
  ]);
  t.same([0, 512, 1536, 3 * 2 ** 30].map(bytesText), ['0 B', '512 B', '1.5 KiB', '3.0 GiB']);
});
