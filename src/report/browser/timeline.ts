/** @file A timeline that is zoomed, moved, searched and asked: what is seen follows from one view. */
import { TimelineData, timeText } from './timeline-data.js';
import { laneAt, type Place, TimelineDrawing, type View } from './timeline-draw.js';

/** The least that is shown. */
const SHORTEST_US = 0.5;
const ZOOM = 1.25;
const MOVE = 0.2;
const CLICK_PIXELS = 4;

const element = <E extends HTMLElement>(id: string): E => document.getElementById(id) as E;
const frame = element('view');
const [find, found] = [element<HTMLInputElement>('find'), element('found')];
const [tip, picked] = [element('tip'), element('picked')];

const data = new TimelineData();
const drawing = new TimelineDrawing(data, element<HTMLCanvasElement>('canvas'));
const whole = Math.max(SHORTEST_US, data.header.wallUs);
const view: View = { startUs: 0, endUs: whole, matches: undefined, picked: undefined };
let isAsked = false;

function redraw(): void {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => {
    isAsked = false;
    const before = performance.now();
    drawing.draw(view);
    // For who measures: how long the last picture took.
    document.documentElement.dataset.drawMs = String(performance.now() - before);
    document.documentElement.dataset.view = `${view.startUs} ${view.endUs}`;
  });
}

function show(startUs: number, endUs: number): void {
  const length = Math.min(whole, Math.max(SHORTEST_US, endUs - startUs));
  view.startUs = Math.min(Math.max(0, startUs), whole - length);
  view.endUs = view.startUs + length;
  redraw();
}

const timeAt = (x: number): number => view.startUs + (x / drawing.width) * (view.endUs - view.startUs);

function zoom(factor: number, x = drawing.width / 2): void {
  const at = timeAt(x);
  show(at - (at - view.startUs) * factor, at + (view.endUs - at) * factor);
}

function move(share: number): void {
  const by = (view.endUs - view.startUs) * share;
  show(view.startUs + by, view.endUs + by);
}

interface Hit {
  readonly span: number;
  readonly place: Place;
}

function hitAt(x: number, y: number): Hit | undefined {
  const place = drawing.places.find(({ top, height }) => y >= top && y < top + height);
  const lane = place?.row?.lanes[laneAt(place, y)];
  if (place === undefined || lane === undefined) return undefined;
  const pixelUs = (view.endUs - view.startUs) / drawing.width;
  const span = data.firstAfter(lane, timeAt(x) - pixelUs);
  if (span >= lane.first + lane.count || data.starts[span]! > timeAt(x) + pixelUs) return undefined;
  return { span, place };
}

function line(name: string, value: string): HTMLElement {
  const row = document.createElement('div');
  const title = document.createElement('b');
  title.textContent = `${name} `;
  row.append(title, value);
  return row;
}

function pick(span: number, thread: string): void {
  view.picked = span;
  const { name, category } = data.nameOf(span);
  const same = Uint8Array.from(data.header.names, (_, id) => (id === data.nameIds[span] ? 1 : 0));
  const { count, us } = data.sumOf(same);
  picked.classList.remove('dim');
  picked.replaceChildren(
    line('name', name),
    line('kind', category),
    line('thread', thread),
    line('begins', timeText(data.starts[span]!)),
    line('takes', timeText(data.durations[span]!)),
    line('of this name', `${count}, ${timeText(us)} together, ${timeText(us / count)} each`),
  );
  redraw();
}

function search(text: string): void {
  view.matches = data.matches(text);
  if (view.matches === undefined) found.textContent = '';
  else {
    const { count, us } = data.sumOf(view.matches);
    found.textContent = count === 0 ? 'none' : `${count} spans, ${timeText(us)}`;
  }
  redraw();
}

function threadOf(span: number): string {
  const has = ({ first, count }: { first: number; count: number }) => span >= first && span < first + count;
  return data.header.rows.find(({ lanes }) => lanes.some(has))?.name ?? '';
}

/** Goes to the next span that was found. */
function next(): void {
  if (view.matches === undefined) return;
  const after = view.picked === undefined ? -1 : data.starts[view.picked]!;
  const span = data.nextMatch(view.matches, after);
  if (span === undefined) return;
  const [start, takes] = [data.starts[span]!, Math.max(data.durations[span]!, SHORTEST_US)];
  if (start < view.startUs || start + takes > view.endUs) show(start - takes * 5, start + takes * 6);
  pick(span, threadOf(span));
}

frame.addEventListener(
  'wheel',
  (event) => {
    if (event.altKey) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) {
      move((event.deltaX || event.deltaY) / drawing.width);
    } else zoom(event.deltaY > 0 ? ZOOM : 1 / ZOOM, event.offsetX);
  },
  { passive: false },
);

let grabbed: { x: number; startUs: number; endUs: number } | undefined;
frame.addEventListener('pointerdown', (event) => {
  grabbed = { x: event.offsetX, startUs: view.startUs, endUs: view.endUs };
  frame.setPointerCapture(event.pointerId);
});
frame.addEventListener('pointermove', (event) => {
  if (grabbed !== undefined) {
    const by = ((event.offsetX - grabbed.x) / drawing.width) * (grabbed.endUs - grabbed.startUs);
    show(grabbed.startUs - by, grabbed.endUs - by);
    return;
  }
  const hit = hitAt(event.offsetX, event.offsetY);
  tip.hidden = hit === undefined;
  if (hit === undefined) return;
  tip.textContent = `${data.nameOf(hit.span).name}  ${timeText(data.durations[hit.span]!)}`;
  tip.style.left = `${Math.min(event.offsetX + 12, drawing.width - tip.offsetWidth - 4)}px`;
  tip.style.top = `${event.offsetY + 16}px`;
});
frame.addEventListener('pointerup', (event) => {
  const isClick = grabbed !== undefined && Math.abs(event.offsetX - grabbed.x) < CLICK_PIXELS;
  grabbed = undefined;
  if (!isClick) return;
  const hit = hitAt(event.offsetX, event.offsetY);
  if (hit !== undefined) pick(hit.span, hit.place.row!.name);
});
frame.addEventListener('dblclick', (event) => {
  const hit = hitAt(event.offsetX, event.offsetY);
  if (hit === undefined) return;
  const [start, takes] = [data.starts[hit.span]!, data.durations[hit.span]!];
  show(start - takes * 0.1, start + takes * 1.1);
});
frame.addEventListener('pointerleave', () => {
  tip.hidden = true;
});

const KEYS: Readonly<Record<string, () => void>> = {
  w: () => zoom(1 / ZOOM),
  s: () => zoom(ZOOM),
  a: () => move(-MOVE),
  d: () => move(MOVE),
  ArrowLeft: () => move(-MOVE),
  ArrowRight: () => move(MOVE),
  0: () => show(0, whole),
  Enter: next,
};
addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === find && event.key !== 'Enter') return;
  if (event.target instanceof HTMLButtonElement) return;
  KEYS[event.key]?.();
});
find.addEventListener('input', () => search(find.value));
element('all').addEventListener('click', () => show(0, whole));
for (const button of document.querySelectorAll<HTMLButtonElement>('button.name')) {
  button.addEventListener('click', () => {
    find.value = button.dataset.name!;
    search(find.value);
  });
}
function fit(): void {
  drawing.resize(frame.clientWidth);
  redraw();
}
new ResizeObserver(fit).observe(frame);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  drawing.readTheme();
  redraw();
});
drawing.readTheme();
fit();
