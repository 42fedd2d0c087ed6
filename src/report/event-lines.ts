/** @file Events of a run as lines of JSON and back; a file that was cut off is read as far as it goes. */
import { join } from 'node:path';
import { MonolithError, messageOf } from '../base/errors.js';
import { readWhole } from '../base/files/read-file.js';
import { snakeName } from '../base/snake-case.js';
import type { KeptEvent, RunEvent } from '../recipe/run-event.js';
import { EVENTS_ID } from './chart.js';

/** The file of a run's folder in which every event is. */
export const EVENTS_FILE = 'events.jsonl';

/** An event as `--json` prints it: names of its own fields in snake_case, ids as text, no NaN. */
export function eventLine(event: RunEvent | KeptEvent): string {
  const renamed = Object.fromEntries(Object.entries(event).map(([name, value]) => [snakeName(name), value]));
  return `${JSON.stringify(renamed, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}\n`;
}

/** Events as they are in lines, for a page. */
export const jsonEvents = (events: readonly KeptEvent[]): unknown[] =>
  events.map((event) => JSON.parse(eventLine(event)));

const camelName = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The events in `text`; a last line that was cut off is left out. */
export function eventsOfText(text: string, file: string): KeptEvent[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      const parsed = JSON.parse(line) as Record<string, unknown>;
      return [Object.fromEntries(Object.entries(parsed).map(([name, value]) => [camelName(name), value]))] as never[];
    } catch (cause) {
      // Whoever was killed while writing left half a line.
      if (index === lines.length - 1) return [];
      const fields = { file, record: index + 1, field: 'line', reason: messageOf(cause) };
      throw new MonolithError('ML_RECORD', fields, { cause });
    }
  });
}

const PAGE = new RegExp(`<script type="application/json" id="${EVENTS_ID}">(.*?)</script>`, 's');

/** The events of a run's folder, of its `events.jsonl`, or of a report that was made of them. */
export function readEvents(path: string): KeptEvent[] {
  const file = /\.(jsonl|html)$/.test(path) ? path : join(path, EVENTS_FILE);
  let text: string;
  try {
    text = readWhole(file, 'logBytes').toString('utf8');
  } catch (cause) {
    const hint = `${path} is no folder of a run: those of train --data and train FILE have ${EVENTS_FILE}`;
    throw new MonolithError('ML_FILE_READ', { file, reason: messageOf(cause) }, { hint, cause });
  }
  return eventsOfText(file.endsWith('.html') ? linesOfPage(text, file) : text, file);
}

function linesOfPage(text: string, file: string): string {
  const events = PAGE.exec(text)?.[1];
  if (events !== undefined) return (JSON.parse(events) as unknown[]).map((event) => JSON.stringify(event)).join('\n');
  const hint = 'give the folder of a run, its events.jsonl, or a report.html';
  throw new MonolithError('ML_FILE_READ', { file, reason: 'there are no events of a run in it' }, { hint });
}
