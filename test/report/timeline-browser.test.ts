/** @file The timeline as a browser shows it: a trace of 130,000 spans, zoomed, searched, asked. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { timelinePage } from '../../src/report/timeline-page.js';
import { missing } from '../requirement.js';
import { madeTrace } from './made-trace.js';
import { browserPath, openBrowser, openPage } from './open-browser.js';

const STEPS = 13_000;
const program = browserPath();
if (program === undefined) t.plan(0, missing('browser', 'no chromium is on the PATH'));
else await lookAtTimeline(program);

async function lookAtTimeline(program: string): Promise<void> {
  const browser = await openBrowser(program);
  t.teardown(() => browser.close());
  const file = join(t.testdir(), 'timeline.html');
  writeFileSync(file, timelinePage(madeTrace(STEPS), 'made'));

  t.test('a timeline is drawn, zoomed, searched and asked', async (t) => {
    const { page, complaints, requests } = await openPage(browser, file, { dark: true });
    const viewOf = async () => {
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      const text = await page.evaluate('document.documentElement.dataset.view');
      return String(text).split(' ').map(Number) as [number, number];
    };
    const pixels = () =>
      page.evaluate(`(() => {
        const canvas = document.getElementById('canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
      })()`);
    t.same(await viewOf(), [0, STEPS * 100], 'all of it at first');
    t.ok(Number(await pixels()) > 20, 'it is drawn');
    t.comment(`the whole trace took ${await page.evaluate('document.documentElement.dataset.drawMs')} ms to draw`);

    const box = (await page.locator('#view').boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + 60);
    for (let turn = 0; turn < 30; turn++) await page.mouse.wheel(0, -100);
    const [start, end] = await viewOf();
    t.ok(end - start < 5000 && start > 600_000 && end < 700_000, `the wheel zooms where it is: ${start} to ${end}`);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 100, box.y + 60);
    await page.mouse.up();
    t.ok((await viewOf())[0] < start, 'dragging moves');

    await page.fill('#find', 'tableapply');
    t.equal(await page.innerText('#found'), `${2 * STEPS} spans, 403 ms`);
    await page.press('#find', 'Enter');
    t.match(await page.innerText('#picked'), /name tableApply update\/userId\s+kind kernel\s+thread pool 0/);
    t.match(await page.innerText('#picked'), /of this name 26000, 403 ms together, 15\.5 µs each/);
    await page.fill('#find', 'nothing like it');
    t.equal(await page.innerText('#found'), 'none');
    await page.click('#all');
    t.same(await viewOf(), [0, STEPS * 100]);
    await page.click('button.name >> nth=0');
    t.equal(await page.inputValue('#find'), await page.innerText('button.name >> nth=0'), 'a name of the summary');
    await page.focus('#view');
    await page.keyboard.press('w');
    t.ok((await viewOf())[1] < STEPS * 100, 'keys zoom');
    t.match(await page.innerText('aside'), /pool 0\s+\d/, 'the summary stands beside it');
    t.same([complaints, requests], [[], []]);
  });
}
