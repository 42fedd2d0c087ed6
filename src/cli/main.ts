#!/usr/bin/env node
/** @file Entry point of the `monolith` command. */
import { pathToFileURL } from 'node:url';
import { commandOfProject } from './hand-over.js';
import { processIo } from './io.js';
import { runProgram } from './program.js';
import { reportError } from './report.js';

const other = commandOfProject(process.cwd());
if (other !== undefined) await import(pathToFileURL(other).href);
else await run();

async function run(): Promise<void> {
  const io = processIo();
  const args = process.argv.slice(2);

  // Anything that escapes a command still ends as one coded error and not as a bare stack.
  process.on('uncaughtException', (thrown) => {
    io.exit(reportError(thrown, io, { json: args.includes('--json'), verbose: args.includes('--verbose') }));
  });

  process.exitCode = await runProgram(args, io);
}
