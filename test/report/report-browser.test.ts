/** @file The report as a browser shows it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { reportPage } from '../../src/report/report-page.js';
import { missing } from '../requirement.js';
import { madeRun } from './made-run.js';
import { browserPath, openBrowser, openPage } from './open-browser.js';

const program = browserPath();
if (program === undefined) t.plan(0, missing('browser', 'no chromium is on the PATH'));
else await lookAtReports(program);

async function lookAtReports(program: string): Promise<void> {
  const browser = await openBrowser(program);
  t.teardown(() => browser.close());
  const dir = t.testdir();
  const file = (name: string, page: string): string => {
    writeFileSync(join(dir, name), page);
    return join(dir, name);
  };
  const good = file('good.html', reportPage(madeRun()));

  t.test('all plots are drawn, in light and dark and on a narrow screen', async (t) => {
    for (const look of [{}, { dark: true }, { width: 400 }]) {
      const { page, complaints, requests } = await openPage(browser, good, look);
      // Each plot has drawn something: not all of its pixels are alike.
      const drawn = await page.evaluate(`[...document.querySelectorAll('figure canvas')].map((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size > 4;
      })`);
      t.same(drawn, new Array(9).fill(true), 'loss, AUC, speed, shares, rows, memory, histogram, calibration, ROC');
      t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true, 'nothing sticks out');
      const back = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      t.equal(back, 'dark' in look ? 'rgb(22, 24, 26)' : 'rgb(255, 255, 255)');
      t.same(complaints, []);
      t.same(requests, [], 'nothing is asked of the network');
      await page.close();
    }
  });

  t.test('quality by freshness is drawn', async (t) => {
    const points = [1, 8, 32].map((interval) => ({ interval, aucs: [0.6 - interval / 100, 0.61 - interval / 100] }));
    const event = { event: 'freshness', unit: 'steps', points, atMs: 0 } as const;
    const { page, complaints } = await openPage(browser, file('fresh.html', reportPage([event])));
    const drawn = await page.evaluate(`[...document.querySelectorAll('#chart-freshness canvas')].map((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size > 4;
    })`);
    t.same(drawn, [true]);
    t.same(complaints, []);
    await page.close();
  });

  t.test('without scripts the words and tables are all there, and it prints', async (t) => {
    const { page, complaints } = await openPage(browser, good, { javaScript: false, dark: true });
    const text = await page.innerText('body');
    for (const part of ['0.7941', 'need JavaScript', 'as its logarithm', '--label click', 'abc123']) {
      t.ok(text.includes(part), part);
    }
    t.same(complaints, []);
    t.ok((await page.pdf()).length > 10_000);
    await page.close();
  });

  t.test('no script of the data runs', async (t) => {
    for (const name of ['</script><script>globalThis.hacked = 1</script>', '<img src=x onerror="hacked = 1">']) {
      const { page, complaints, requests } = await openPage(browser, file('bad.html', reportPage(madeRun({ name }))));
      t.equal(await page.evaluate('typeof hacked'), 'undefined');
      t.ok((await page.innerText('h1')).includes(name), 'the name stands there as it is');
      t.same(complaints, []);
      t.same(requests, []);
      await page.close();
    }
  });
}
