/**
 * @file Builds what pages of the package run in a browser: scripts of `src/report/browser` and uPlot, each with its
 * own imports joined into one file that a page carries inside. An installed package needs neither uPlot nor a
 * compiler.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { runCompiler } from './build-typescript.mjs';
import { digestFiles, filesBelow } from './digest-files.mjs';

const STAMP = 'build/.pages.sha256';
const PAGES = ['report', 'timeline'];
const STYLES = ['base.css', 'report.css', 'timeline.css'];
const UPLOT = ['uPlot.js', 'uPlot.css'];
const require = createRequire(import.meta.url);

/** Builds into `build/pages` of `root`. Returns whether there was something to do. */
export async function buildPages(root) {
  const out = join(root, 'build/pages');
  const uplot = dirname(require.resolve('uplot/package.json'));
  const sources = filesBelow(root, 'src/report/browser', /\.(ts|css|json)$/);
  const { version } = JSON.parse(readFileSync(join(uplot, 'package.json'), 'utf8'));
  const types = ['src/report/chart.ts', 'src/report/timeline.ts'];
  const digest = digestFiles(root, ['.ci/build-pages.mjs', ...types, ...sources], version);
  const made = [...PAGES.map((name) => `${name}.js`), ...STYLES, ...UPLOT];
  const stamp = join(root, STAMP);
  const isWhole = made.every((name) => existsSync(join(out, name)));
  if (isWhole && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return false;
  rmSync(stamp, { force: true });
  mkdirSync(out, { recursive: true });
  await runCompiler(root, join(root, 'src/report/browser/tsconfig.json'));
  const compiled = join(root, 'build/.pages/src/report/browser');
  for (const name of PAGES) put(join(out, `${name}.js`), joined(compiled, name));
  for (const name of STYLES) put(join(out, name), readFileSync(join(root, 'src/report/browser', name), 'utf8'));
  const licence = `/*! uPlot ${version}\n${readFileSync(join(uplot, 'LICENSE'), 'utf8').trim()}\n*/\n`;
  put(join(out, 'uPlot.js'), licence + readFileSync(join(uplot, 'dist/uPlot.iife.min.js'), 'utf8'));
  put(join(out, 'uPlot.css'), readFileSync(join(uplot, 'dist/uPlot.min.css'), 'utf8'));
  rmSync(join(root, 'build/.pages'), { recursive: true, force: true });
  writeFileSync(stamp, digest);
  return true;
}

/** A file gets its name when it is whole. */
function put(file, text) {
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
}

/** The script of a page with those it imports before it: names of files of one page are different. */
function joined(folder, name) {
  const parts = [];
  const seen = new Set();
  const add = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(join(folder, file), 'utf8');
    for (const [, other] of text.matchAll(/^import .* from '\.\/(.+)';$/gm)) add(basename(other));
    parts.push(
      text
        .replace(/^import .*;$\n?/gm, '')
        .replace(/^export (?=\w)/gm, '')
        .replace(/^export \{\};$\n?/gm, ''),
    );
  };
  add(`${name}.js`);
  return `(() => {\n'use strict';\n${parts.join('')}})();\n`;
}
