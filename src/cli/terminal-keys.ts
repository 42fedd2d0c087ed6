/**
 * @file Single keys of a terminal. While they are listened to the terminal is raw: it sends no signals by itself, so
 * those of Ctrl-C, Ctrl-Z and Ctrl-\\ are sent here. It is set back in any case in which code still runs: at the end,
 * at process.exit, at an error that nobody caught; Node sets it back at signals that end it.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const SIGNAL_KEYS: Readonly<Record<string, NodeJS.Signals>> = {
  '\x03': 'SIGINT',
  '\x1a': 'SIGTSTP',
  '\x1c': 'SIGQUIT',
};

/** What of a terminal is used: process.stdin is one. */
export type KeySource = Pick<
  NodeJS.ReadStream,
  'isTTY' | 'setRawMode' | 'on' | 'off' | 'resume' | 'pause' | 'ref' | 'unref'
>;

/** Calls `listener` with each key; returns how to stop, or null where there is no terminal of ours. */
export function listenToKeys(
  listener: (key: string) => void,
  input: KeySource,
  isOurs: () => boolean = ownsTerminal,
): (() => void) | null {
  if (input.isTTY !== true || !isOurs()) return null;
  const onData = (chunk: Buffer) => {
    for (const key of chunk.toString('utf8')) {
      const signal = SIGNAL_KEYS[key];
      if (signal === undefined) listener(key);
      else send(signal);
    }
  };
  const raw = (on: boolean) => {
    try {
      input.setRawMode(on);
    } catch {
      // The terminal is gone: there is nothing to set back.
    }
  };
  const send = (signal: NodeJS.Signals) => {
    // Whoever is stopped, or ended, leaves the terminal as it was.
    if (signal !== 'SIGINT') raw(false);
    process.kill(process.pid, signal);
  };
  const again = () => raw(true);
  const reset = () => raw(false);
  raw(true);
  input.on('data', onData);
  input.resume();
  // That somebody may press a key is no reason to go on.
  input.unref();
  process.on('exit', reset);
  process.on('SIGCONT', again);
  return () => {
    process.off('exit', reset);
    process.off('SIGCONT', again);
    input.off('data', onData);
    input.pause();
    raw(false);
  };
}

/** Whether this process is in the foreground: one in the background that reads a terminal is stopped. */
function ownsTerminal(): boolean {
  if (process.platform === 'win32') return true;
  try {
    const [group, foreground] = process.platform === 'linux' ? groupsOfProc() : groupsOfPs();
    return group !== undefined && group === foreground;
  } catch {
    return false; // Nobody knows: keys are a comfort, being stopped is none.
  }
}

/** The process group, and that of the terminal's foreground: fields 5 and 8, behind a name in brackets. */
function groupsOfProc(): (string | undefined)[] {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [fields[2], fields[5]];
}

function groupsOfPs(): (string | undefined)[] {
  const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' });
  return stdout.trim().split(/\s+/);
}
