/**
 * @file What happens in a long run, as events with fields: to whoever listens. At first nobody does, but for warnings,
 * which are warnings of the process then.
 */
export type LogLevel = 'info' | 'warn';
export type LogFields = Readonly<Record<string, unknown>>;
export type LogSink = (level: LogLevel, event: string, fields: LogFields) => void;

const warnOnly: LogSink = (level, event, fields) => {
  if (level === 'warn') process.emitWarning(textOf(event, fields), { type: 'MonolithWarning' });
};

let sink = warnOnly;

/** Has `next` hear of everything; without one, it is as at first. Returns who heard of it before. */
export function setLogSink(next: LogSink = warnOnly): LogSink {
  const before = sink;
  sink = next;
  return before;
}

export const log = {
  info: (event: string, fields: LogFields = {}): void => sink('info', event, fields),
  warn: (event: string, fields: LogFields = {}): void => sink('warn', event, fields),
};

/** An event as a line of text. */
export function textOf(event: string, fields: LogFields): string {
  return [event, ...Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`)].join(' ');
}
