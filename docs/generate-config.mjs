/** @file Writes the tables of docs/config.md from the fields of configuration records. Needs a build. */
import { readFileSync, writeFileSync } from 'node:fs';
import { configPage } from '../build/test/support/config-page.js';

const page = new URL('./config.md', import.meta.url);
writeFileSync(page, configPage(readFileSync(page, 'utf8')));
