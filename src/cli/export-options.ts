/** @file The flags of `monolith export` and `monolith import`. */
import { z } from 'zod';
import { suggest } from '../base/suggest.js';
import { EXPORT_FORMATS, type ExportFormat } from '../train/exporter.js';
import { flagMeta, oneOf, pathName, refuse, switchFlag, wholeNumber } from './flags.js';

/** Names with commas between them. */
function formatList() {
  return z.string().transform((text, context): readonly ExportFormat[] => {
    const names = text.split(',').map((name) => name.trim());
    const unknown = names.find((name) => !EXPORT_FORMATS.some((format) => format === name));
    if (unknown === undefined) return [...new Set(names)] as ExportFormat[];
    const near = suggest(unknown, EXPORT_FORMATS);
    const hint = near === undefined ? `there are ${EXPORT_FORMATS.join(', ')}` : `did you mean ${near}?`;
    return refuse(context, `there is no format "${unknown}"`, hint);
  });
}

export const exportFlags = z.object({
  to: pathName().register(flagMeta, { value: 'dir', help: 'folder of versions; a new one is made in it' }),
  formats: formatList()
    .default(['native'])
    .register(flagMeta, { value: 'list', help: 'native, onnx, savedModel, with commas', defaultText: 'native' }),
  checkpoint: pathName().optional().register(flagMeta, { value: 'path', help: 'another than the newest' }),
  compress: oneOf(['fp32', 'fp16', 'fixed_r8', 'one_bit'])
    .optional()
    .register(flagMeta, { value: 'name', help: 'how rows of tables are kept: fp32, fp16, fixed_r8 or one_bit' }),
  servers: wholeNumber(1, 4096)
    .optional()
    .register(flagMeta, { value: 'n', help: 'in parts: an entry, and the rows of so many servers' }),
  denseOnly: switchFlag().register(flagMeta, { help: 'in parts, variables alone: rows are those exported before' }),
  json: switchFlag().register(flagMeta, { help: 'print JSON' }),
  verbose: switchFlag().register(flagMeta, { help: 'show causes and stacks of errors' }),
});

export type ExportFlags = z.output<typeof exportFlags>;

/** `TABLE=NAME` pairs with commas between them. */
function nameMap() {
  return z.string().transform((text, context): Readonly<Record<string, string>> => {
    const pairs = text.split(',').map((pair) => pair.split('='));
    const bad = pairs.find((pair) => pair.length !== 2 || pair.some((name) => name.trim() === ''));
    if (bad !== undefined)
      return refuse(context, `"${bad.join('=')}" is no TABLE=NAME`, '--map user=fc_slot_1,item=fc_slot_2');
    return Object.fromEntries(pairs.map(([table, name]) => [table!.trim(), name!.trim()]));
  });
}

export const importFlags = z.object({
  into: pathName().optional().register(flagMeta, { value: 'run', help: 'run whose tables get the rows of a dump' }),
  out: pathName().optional().register(flagMeta, { value: 'dir', help: 'model directory that is written with --into' }),
  map: nameMap()
    .optional()
    .register(flagMeta, { value: 'list', help: 'TABLE=NAME in the dump, with commas, where names differ' }),
  state: switchFlag().register(flagMeta, { help: 'take the state of optimizers too, of equal tables' }),
  json: switchFlag().register(flagMeta, { help: 'print JSON' }),
  verbose: switchFlag().register(flagMeta, { help: 'show causes and stacks of errors' }),
});

export type ImportFlags = z.output<typeof importFlags>;
