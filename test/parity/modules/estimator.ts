/** @file The case of estimator: which version of an export is imported, and what it is asked where nobody says. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { messageOf } from '../../../src/base/errors.js';
import { FFMParams } from '../../../src/demo/ffm-task.js';
import { importSavedModel } from '../../../src/serve/saved-model/import-saved-model.js';
import { newestVersion } from '../../../src/serve/versions.js';
import { localTrain } from '../../../src/train/tasks/local-train.js';
import { fieldsOf, type ParityCase, type ParityHandlers } from '../case.js';
import '../../../src/serve/provide.js';

/** A real model under the newest number: the others are folders alone, so that it is the one that answers. */
async function importing({ input }: ParityCase): Promise<unknown> {
  const { children, path } = fieldsOf(input, ['children', 'path']) as { children: string[]; path: string };
  const root = mkdtempSync(join(tmpdir(), 'estimator-'));
  try {
    const dir = join(root, path);
    for (const child of children) mkdirSync(join(dir, child), { recursive: true });
    const session = { threads: 1, memoryBytes: 2 ** 27 };
    await using estimator = await localTrain(FFMParams(), { modelDir: join(root, 'run'), steps: 1, session });
    const resolved = await newestVersion(dir, (folder) => folder !== dir && existsSync(folder));
    cpSync(await estimator.export(join(root, 'made')), resolved, { recursive: true });
    const imported = await importSavedModel(dir, {});
    try {
      // One input by its name, and all outputs: what the defaults are.
      const [output] = Object.keys(await imported.infer({ instances: [{}] }));
      const asked = { signature: 'serving_default', inputName: 'instances', outputName: 'output' };
      await (await importSavedModel(dir, asked)).close();
      rmSync(dir, { recursive: true });
      mkdirSync(dir);
      const refused = await importSavedModel(dir, {}).then(() => 'none', messageOf);
      return {
        resolved: relative(root, resolved),
        signature: asked.signature,
        input: asked.inputName,
        output,
        error_when_none: refused.replace(`${root}/`, ''),
      };
    } finally {
      await imported.close();
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

export const handlers: ParityHandlers = { estimator: importing };
