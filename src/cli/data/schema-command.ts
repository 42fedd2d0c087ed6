/** @file `monolith data schema`: the schema of a file as TypeScript, to be changed from there, or as JSON. */

import { MonolithError } from '../../base/errors.js';
import { schemaText } from '../../recipe/eject.js';
import { readTable } from '../../recipe/read-table.js';
import type { CliIo } from '../io.js';
import { jsonLine } from '../json-line.js';
import { checkThere, fileOptionsOf, overOf } from '../learn/table-run.js';
import { EXIT_DONE } from '../report.js';
import { stoppable } from '../trained/with-run.js';
import type { SchemaFlags } from './data-options.js';
import { calledBy } from './open-data.js';

export function runSchemaCommand(files: string, flags: SchemaFlags, io: CliIo): Promise<number> {
  return stoppable(io, async (signal) => {
    checkThere(files);
    if (flags.label === null) {
      const hint = "--label COLUMN says what is predicted, such as --label 'rating>=3.5'";
      throw new MonolithError('ML_FLAG', { flag: 'data schema', reason: 'needs the label' }, { hint });
    }
    const { recipe } = await readTable({
      ...{ data: files, source: calledBy(files), label: flags.label, sides: [], over: overOf(flags), signal },
      model: { name: 'deepfm' },
      options: fileOptionsOf(flags),
      badRowsMax: flags.badRowsMax,
    });
    if (flags.json) io.out.write(jsonLine({ event: 'schema', label: recipe.label, columns: recipe.columns }));
    else io.out.write(`import { defineSchema, f } from 'monolith-ts';\n\n${schemaText(recipe)}`);
    return EXIT_DONE;
  });
}
