/**
 * @file Draws the part of a trace that is in view. What it costs goes by pixels, not by events: of spans that share a
 * pixel one is drawn, and the next one is looked up behind it.
 */
import type { TimelineRow } from '../timeline.js';
import { type TimelineData, timeText } from './timeline-data.js';

export const LANE = 18;
const NAME_HEIGHT = 20;
const RULER = 24;
const COUNTER = 44;
const GAP = 6;
/** A span below this many pixels has no room for its name. */
const NAMED = 36;
const CHAR_PIXELS = 6.6;
const TICK_PIXELS = 110;

export interface View {
  startUs: number;
  endUs: number;
  matches: Uint8Array | undefined;
  picked: number | undefined;
}

/** Where a row or a counter stands. */
export interface Place {
  readonly top: number;
  readonly height: number;
  readonly row?: TimelineRow;
  readonly counter?: number;
}

export function placesOf({ header }: TimelineData): { places: Place[]; height: number } {
  let top = RULER;
  const places: Place[] = [];
  for (const row of header.rows) {
    if (row.lanes.length === 0) continue;
    const height = NAME_HEIGHT + row.lanes.length * LANE;
    places.push({ top, height, row });
    top += height + GAP;
  }
  for (const counter of header.counters.keys()) {
    places.push({ top, height: NAME_HEIGHT + COUNTER, counter });
    top += NAME_HEIGHT + COUNTER + GAP;
  }
  return { places, height: top };
}

/** The lane of a row that a height on the canvas is in. */
export function laneAt(place: Place, y: number): number {
  return Math.floor((y - place.top - NAME_HEIGHT) / LANE);
}

export class TimelineDrawing {
  readonly #data: TimelineData;
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #colors: string[];
  readonly places: readonly Place[];
  readonly height: number;
  #width = 0;
  #text = '';
  #dim = '';
  #line = '';
  #mark = '';

  constructor(data: TimelineData, canvas: HTMLCanvasElement) {
    this.#data = data;
    this.#canvas = canvas;
    this.#context = canvas.getContext('2d')!;
    this.#colors = data.header.names.map(({ name, category }) => colorOf(name, category));
    ({ places: this.places, height: this.height } = placesOf(data));
  }

  get width(): number {
    return this.#width;
  }

  resize(width: number): void {
    this.#width = width;
    this.#canvas.width = Math.round(width * devicePixelRatio);
    this.#canvas.height = Math.round(this.height * devicePixelRatio);
    this.#canvas.style.width = `${width}px`;
    this.#canvas.style.height = `${this.height}px`;
  }

  readTheme(): void {
    const style = getComputedStyle(document.documentElement);
    const colorNamed = (name: string) => style.getPropertyValue(name).trim();
    [this.#text, this.#dim] = [colorNamed('--text'), colorNamed('--dim')];
    [this.#line, this.#mark] = [colorNamed('--line'), colorNamed('--mark')];
  }

  draw(view: View): void {
    const context = this.#context;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, this.#width, this.height);
    context.font = '11px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';
    context.textBaseline = 'middle';
    this.#drawRuler(view);
    for (const place of this.places) {
      context.fillStyle = this.#text;
      if (place.row !== undefined) this.#drawRow(place, place.row, view);
      else this.#drawCounter(place, place.counter!, view);
    }
  }

  #drawRuler({ startUs, endUs }: View): void {
    const context = this.#context;
    const span = endUs - startUs;
    const rough = (span * TICK_PIXELS) / this.#width;
    const power = 10 ** Math.floor(Math.log10(rough));
    const every = power * ([1, 2, 5].find((times) => times * power >= rough) ?? 10);
    context.textAlign = 'left';
    for (let at = Math.ceil(startUs / every) * every; at <= endUs; at += every) {
      const x = ((at - startUs) / span) * this.#width;
      context.fillStyle = this.#line;
      context.fillRect(x, 0, 1, this.height);
      context.fillStyle = this.#dim;
      context.fillText(timeText(at), x + 4, RULER / 2);
    }
  }

  #drawRow(place: Place, { name, lost, lanes }: TimelineRow, view: View): void {
    const context = this.#context;
    context.font = '600 12px system-ui, sans-serif';
    context.fillText(lost > 0 ? `${name} (${lost} older events are gone)` : name, 4, place.top + NAME_HEIGHT / 2);
    context.font = '11px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace';
    const data = this.#data;
    const pixelUs = (view.endUs - view.startUs) / this.#width;
    for (const [depth, lane] of lanes.entries()) {
      const y = place.top + NAME_HEIGHT + depth * LANE;
      const end = lane.first + lane.count;
      for (let span = data.firstAfter(lane, view.startUs); span < end; ) {
        const start = data.starts[span]!;
        if (start > view.endUs) break;
        const left = Math.max(0, (start - view.startUs) / pixelUs);
        const right = Math.min(this.#width, (data.endOf(span) - view.startUs) / pixelUs);
        this.#drawSpan(span, left, Math.max(right, left + 1), y, view);
        // Those that end within the pixel that is drawn already are passed over.
        const drawnUs = view.startUs + Math.floor(Math.max(right, left + 1)) * pixelUs;
        span = right - left < 1 ? data.firstAfter(lane, drawnUs, span + 1) : span + 1;
      }
    }
  }

  #drawSpan(span: number, left: number, right: number, y: number, { matches, picked }: View): void {
    const context = this.#context;
    const id = this.#data.nameIds[span]!;
    const isFound = matches === undefined || matches[id] === 1;
    context.globalAlpha = isFound ? 1 : 0.15;
    context.fillStyle = this.#colors[id]!;
    const width = right - left;
    context.fillRect(left, y, width > 3 ? width - 0.5 : width, LANE - 2);
    if (width > NAMED) {
      const text = this.#data.header.names[id]!.name;
      const room = Math.floor((width - 6) / CHAR_PIXELS);
      context.fillStyle = '#16181a';
      context.fillText(text.length > room ? `${text.slice(0, room - 1)}…` : text, left + 3, y + LANE / 2 - 1);
    }
    if (picked === span) {
      context.strokeStyle = this.#mark;
      context.lineWidth = 2;
      context.strokeRect(left, y, Math.max(2, width), LANE - 2);
    }
    context.globalAlpha = 1;
  }

  /** A line of steps from sample to sample; of those in a pixel the least and the most. */
  #drawCounter({ top }: Place, counter: number, { startUs, endUs }: View): void {
    const context = this.#context;
    const { name, first, count, least, most } = this.#data.header.counters[counter]!;
    context.font = '600 12px system-ui, sans-serif';
    const [from, to] = [Number(least.toPrecision(5)), Number(most.toPrecision(5))];
    context.fillText(`${name}  ${from} … ${to}`, 4, top + NAME_HEIGHT / 2);
    const range = most - least || 1;
    const yOf = (value: number) => top + NAME_HEIGHT + COUNTER - 2 - ((value - least) / range) * (COUNTER - 4);
    const { times, values } = this.#data;
    const pixelUs = (endUs - startUs) / this.#width;
    context.strokeStyle = `hsl(${hueOf(name)} 60% 50%)`;
    context.lineWidth = 1.5;
    context.beginPath();
    const begin = Math.max(first, this.#data.sampleAfter(first, count, startUs) - 1);
    for (let at = begin; at < first + count; ) {
      const x = (times[at]! - startUs) / pixelUs;
      if (x > this.#width) break;
      const next = Math.max(at + 1, this.#data.sampleAfter(first, count, times[at]! + pixelUs));
      let [low, high] = [values[at]!, values[at]!];
      for (let one = at; one < next; one += Math.max(1, (next - at) >> 5)) {
        low = Math.min(low, values[one]!);
        high = Math.max(high, values[one]!);
      }
      context.lineTo(x, yOf(low));
      context.lineTo(x, yOf(high));
      context.lineTo(x, yOf(values[next - 1]!));
      const until = next < first + count ? (times[next]! - startUs) / pixelUs : this.#width;
      context.lineTo(until, yOf(values[next - 1]!));
      at = next;
    }
    context.stroke();
  }
}

function hueOf(text: string): number {
  let hash = 7;
  for (let at = 0; at < text.length; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) >>> 0;
  return (Math.imul(hash, 0x9e3779b1) >>> 8) % 360;
}

/** Kernels of one name have one colour; waits are grey. */
function colorOf(name: string, category: string): string {
  if (category === 'wait') return 'hsl(220 8% 72%)';
  if (category === 'phase') return `hsl(${hueOf(name)} 30% 78%)`;
  return `hsl(${hueOf(name.split(' ')[0]!)} 65% 68%)`;
}
