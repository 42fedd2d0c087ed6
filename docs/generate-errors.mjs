/**
 * @file Writes docs/errors.md from the table of error codes; with --check only says whether it is current.
 *
 * Groups come from the comments between the codes in src/base/errors.ts, advice from the table below. Needs a build.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ERROR_MESSAGES } from '../build/src/base/errors.js';

/** What to do, where the hint printed with the error is not enough. A code without an entry shows its sentence only. */
const ADVICE = {
  ML_BOUNDS: 'A defect of monolith or of code that uses its memory views. Please report it with the message.',
  ML_CANCELLED: 'Something this work depended on ended first; the reason names it.',
  ML_CKPT_CORRUPT:
    'Remove the named file or restore it from a copy. Older checkpoints of the same directory still work.',
  ML_CKPT_MODEL: 'Give another `--model-dir`, or train with the flags the checkpoint was made with.',
  ML_CKPT_NONE: 'Give a model directory, a checkpoint such as `runs/ffm/model.ckpt-100`, or a file of a table.',
  ML_CKPT_WRITE: 'Check space and rights of the directory. The checkpoint before it is untouched.',
  ML_CLOSED: 'It was used after its end. In a program: keep it open longer.',
  ML_DIR: 'Give a `--model-dir` that is a directory, or can be made, and may be written.',
  ML_FEED: 'The value fed does not have the type or shape of the input it was fed to.',
  ML_FLAG: 'The command line is wrong; nothing was started and nothing was written. Exit code 2.',
  ML_GRAPH:
    'The model function built something that cannot run; the message names the op and the line of your code behind it.',
  ML_GRAPH_WRITE: 'Give a `--dump-graph` file in a directory that exists and may be written.',
  ML_INTERNAL: 'Not foreseen, so likely a defect. Run again with `--verbose` and report what it shows.',
  ML_MEMORY: 'Use a smaller batch or table, or give the session more memory.',
  ML_METRIC: 'A metric was asked for by a name it does not have, or was given numbers it cannot count.',
  ML_NAN_LOSS: 'Lower the learning rate, clip gradients, or look for bad input near that step.',
  ML_OPTION: 'The named function or class has no such option; the hint has the nearest one, or all of them.',
  ML_OUT_OF_RANGE: 'The input ended. Training takes it as the normal end of the data.',
  ML_THREADS:
    'Raise the limit on processes and threads (`ulimit -u`, `pids.max` of a container), or give fewer `--threads`.',
  ML_TIMEOUT: 'A thread or a service did not answer. `monolith doctor` checks the machine.',
  ML_TRACE_READ: 'Give a file written by `monolith train --trace`.',
  ML_TRACE_WRITE: 'Give a `--trace` file in a directory that exists and may be written.',
  ML_UNSUPPORTED: 'This version cannot do it; the reason says what can be done in its place.',
  ML_KERNELS:
    'MONOLITH_KERNELS, or the option `kernels`, asks for a build of the kernels that this engine does not run.',
  ML_WASM: '`monolith doctor` says which part is missing.',
  ML_WASM_STALE:
    'The module of kernels and the JavaScript that calls it come from different versions. Run `npm run build` in a ' +
    'checkout; where the package is installed, install it again.',
  ML_WORKER: 'A thread died; the reason is its own error. `--verbose` shows where.',
};

const target = new URL('../docs/errors.md', import.meta.url);

/** Codes by group, in the order of the table. */
function groups() {
  const source = readFileSync(new URL('../src/base/errors.ts', import.meta.url), 'utf8');
  const table = source.slice(source.indexOf('ERROR_MESSAGES'), source.indexOf('as const'));
  const found = [];
  for (const line of table.split('\n')) {
    const title = /^ {2}\/\/ (.+)$/.exec(line)?.[1];
    const code = /^ {2}(ML_\w+):/.exec(line)?.[1];
    if (title !== undefined) found.push({ title, codes: [] });
    if (code === undefined) continue;
    if (found.length === 0) found.push({ title: 'general', codes: [] });
    found.at(-1).codes.push(code);
  }
  return found;
}

function entry(code) {
  const sentence = ERROR_MESSAGES[code];
  const fields = [...new Set([...sentence.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))];
  const text = sentence
    .replaceAll('__', '\\_\\_')
    .replace(/\{(\w+)\}/g, '_$1_')
    .replaceAll('\n', '\n> ');
  const lines = [`### ${code}`, '', `> ${text}`, ''];
  if (fields.length > 0) lines.push(`Fields: ${fields.map((field) => `\`${field}\``).join(', ')}.`, '');
  if (ADVICE[code] !== undefined) lines.push(ADVICE[code], '');
  return lines;
}

function page() {
  const listed = groups();
  const missing = Object.keys(ERROR_MESSAGES).filter((code) => !listed.some((group) => group.codes.includes(code)));
  const unknown = Object.keys(ADVICE).filter((code) => !(code in ERROR_MESSAGES));
  if (missing.length > 0) throw new Error(`not found in the source of the table: ${missing.join(', ')}`);
  if (unknown.length > 0) throw new Error(`advice for codes that do not exist: ${unknown.join(', ')}`);
  const lines = [
    '# Error codes',
    '',
    '<!-- Made by `npm run docs:errors` from src/base/errors.ts; edit there. -->',
    '',
    'Every error has a code for programs (`error.code`), fields (`error.fields`), a sentence and often a hint. The',
    'command line prints `error CODE: sentence` and `hint: ...`; with `--json` also a line `{"event":"error", ...}`.',
    'Exit code is 2 for ML_FLAG and 1 for all others.',
    '',
    'An error about an op of a graph also has `fields.place`, the line of your code that made the op',
    '(`ranker.mjs:12:5`; with `node --enable-source-maps` that of the TypeScript), and where it helps `fields.node`,',
    'the full name of the op.',
    '',
  ];
  for (const { title, codes } of listed) {
    // A remark about a group stands behind a semicolon: it is text of the page, not part of the heading.
    const [heading, remark] = title.split('; ').map((part) => `${part[0].toUpperCase()}${part.slice(1)}`);
    lines.push(`## ${heading}`, '', ...(remark === undefined ? [] : [`${remark}.`, '']), ...codes.flatMap(entry));
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== page()) {
    process.stderr.write('docs/errors.md is not current: run `npm run docs:errors`\n');
    process.exitCode = 1;
  }
} else {
  writeFileSync(target, page());
}
