/** @file Writes docs/imports.md from the imports of src/. Needs a build. */
import { writeFileSync } from 'node:fs';
import { readImportGraph } from '../build/test/support/import-graph.js';
import { importsPage } from '../build/test/support/imports-page.js';

writeFileSync(new URL('./imports.md', import.meta.url), importsPage(readImportGraph(['src'])));
