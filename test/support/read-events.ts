/** @file The events of a file, as a reader of TensorBoard would see them. */
import { EVENT, type Event } from '../../src/io/event-messages.js';
import { RecordReader } from '../../src/io/record-reader.js';

export function readEvents(path: string): Event[] {
  return [...new RecordReader(path)].map((payload) => EVENT.decode(payload));
}

/** Every value of the file by its tag, with its step. */
export function readScalars(path: string): Map<string, [step: number, value: number][]> {
  const found = new Map<string, [number, number][]>();
  for (const { step, summary } of readEvents(path)) {
    for (const { tag, simpleValue } of summary?.value ?? []) {
      if (simpleValue === undefined) continue;
      const points = found.get(tag) ?? [];
      found.set(tag, points);
      points.push([Number(step), simpleValue]);
    }
  }
  return found;
}
