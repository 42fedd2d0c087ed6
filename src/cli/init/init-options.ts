/** @file The flags of `monolith init`. */
import { z } from 'zod';
import { flagMeta, outputFlags, quietFlag } from '../flags.js';
import { columnFlags, fileFlags, tableFlags } from '../learn/learn-options.js';

export const initFlags = z.object({
  data: z.string().min(1).nullable().default(null).register(flagMeta, {
    value: 'file',
    help: 'the table to train on',
    defaultText: 'made-up clicks',
  }),
  label: tableFlags.label,
  with: tableFlags.with,
  ...columnFlags,
  ...fileFlags,
  ...quietFlag,
  ...outputFlags,
});
export type InitFlags = z.output<typeof initFlags>;
