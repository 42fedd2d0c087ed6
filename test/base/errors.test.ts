import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';
import { ERROR_MESSAGES, type ErrorCode, MonolithError, messageOf } from '../../src/base/errors.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const codes = Object.keys(ERROR_MESSAGES) as ErrorCode[];

/** Names of the fields in the sentence of `code`. */
function fieldsOf(code: ErrorCode): string[] {
  return [...ERROR_MESSAGES[code].matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
}

t.test('every code can be raised with its fields in the sentence', async (t) => {
  for (const code of codes) {
    t.match(code, /^ML_[A-Z0-9_]+$/);
    const fields = Object.fromEntries(fieldsOf(code).map((name) => [name, `<${name}>`]));
    const cause = new Error('why');
    const error = new MonolithError(code, fields, { hint: 'do this', cause });
    t.match(error, { name: 'MonolithError', code, fields, hint: 'do this', cause }, code);
    t.notMatch(error.message, /[{}]/, code);
    for (const name of Object.keys(fields)) t.ok(error.message.includes(`<${name}>`), `${code} says ${name}`);
  }
});

t.test('anything thrown has a message', async (t) => {
  t.equal(messageOf(new Error('a')), 'a');
  t.equal(messageOf('b'), 'b');
  t.equal(messageOf(undefined), 'undefined');
});

function sources(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return sources(path);
    return path.endsWith('.ts') && !path.endsWith('.d.ts') ? [path] : [];
  });
}

/**
 * Places in `text` that make a MonolithError and leave out a field of its sentence. Fields made elsewhere are not seen.
 */
function unfilled(name: string, text: string): string[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isNewExpression(node) && node.expression.getText(file) === 'MonolithError') {
      const missing = missingFields(node.arguments ?? ([] as readonly ts.Expression[]), file);
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      if (missing.length > 0) found.push(`${name}:${line + 1} leaves out ${missing.join(', ')}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function missingFields([code, fields]: readonly ts.Expression[], file: ts.SourceFile): string[] {
  if (code === undefined || !ts.isStringLiteral(code) || !(code.text in ERROR_MESSAGES)) return [];
  const needed = fieldsOf(code.text as ErrorCode);
  if (fields === undefined) return needed;
  if (!ts.isObjectLiteralExpression(fields) || fields.properties.some(ts.isSpreadAssignment)) return [];
  const given = new Set(fields.properties.map((property) => property.name?.getText(file)));
  return needed.filter((name) => !given.has(name));
}

t.test('every place that raises an error fills the fields of its sentence', async (t) => {
  const files = [...sources(join(root, 'src'))];
  t.ok(files.length > 5, 'sources were found');
  t.same(
    files.flatMap((path) => unfilled(relative(root, path), readFileSync(path, 'utf8'))),
    [],
  );
});

t.test('a field that is left out is noticed', async (t) => {
  t.same(unfilled('x.ts', "throw new MonolithError('ML_FLAG', { flag });"), ['x.ts:1 leaves out reason']);
  t.same(unfilled('x.ts', "throw new MonolithError('ML_CLOSED');"), ['x.ts:1 leaves out what']);
  t.same(unfilled('x.ts', "throw new MonolithError('ML_FLAG', { flag, 'reason': 1, ...rest });"), []);
});

t.test('docs/errors.md is made from the table as it is', async (t) => {
  const made = spawnSync(process.execPath, [join(root, 'docs/generate-errors.mjs'), '--check'], { encoding: 'utf8' });
  t.equal(made.stderr, '');
  t.equal(made.status, 0, 'run `npm run docs:errors` after a change of the table');
});
