/** @file The flags of the commands that look at what a run left. */
import { z } from 'zod';
import { flagMeta, outputFlags, pathName, switchFlag, wholeNumber } from './flags.js';

export const reportFlags = z.object({
  out: pathName()
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'file', help: 'where it goes', defaultText: 'in the folder' }),
  ...outputFlags,
});
export const traceFlags = z.object({
  html: switchFlag().register(flagMeta, { help: 'write a page with the timeline and the summary' }),
  out: pathName()
    .nullable()
    .default(null)
    .register(flagMeta, { value: 'file', help: 'where the page goes', defaultText: 'beside the trace' }),
  top: wholeNumber(1, 1000).optional().register(flagMeta, { value: 'count', help: 'rows to show per table' }),
  ...outputFlags,
});
