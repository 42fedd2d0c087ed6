/** @file Exports follow checkpoints: what the state names is there, and of a checkpoint that is there. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { ExportSaverListener, readExportState } from '../../src/train/savers/export-saver.js';

const session = {} as never;

/** A listener over a model directory with made-up checkpoints; versions are numbered from 100. */
async function exporting(dir: string) {
  const exportDir = join(dir, 'exported_models');
  await mkdir(exportDir);
  let version = 100;
  const asked: string[] = [];
  const listener = new ExportSaverListener({
    modelDir: dir,
    exportDir,
    async export(checkpoint) {
      asked.push(checkpoint);
      const folder = join(exportDir, `${version++}`);
      await mkdir(folder);
      return folder;
    },
  });
  const save = async (step: number) => {
    await writeFile(join(dir, `model.ckpt-${step}.index`), '');
    await listener.afterSave(session, step);
  };
  const versions = async () => (await readdir(exportDir)).filter((name) => /^\d+$/.test(name));
  return { exportDir, asked, save, versions };
}

t.test('an export of a checkpoint that is gone goes with the next save', async (t) => {
  const dir = t.testdir({});
  const { exportDir, asked, save, versions } = await exporting(dir);
  await save(10);
  await save(20);
  t.same(asked, [join(dir, 'model.ckpt-10'), join(dir, 'model.ckpt-20')]);
  await rm(join(dir, 'model.ckpt-10.index'));
  await save(30);
  t.same(readExportState(exportDir), [
    { exportDir: join(exportDir, '101'), globalStep: 20 },
    { exportDir: join(exportDir, '102'), globalStep: 30 },
  ]);
  t.same(await versions(), ['101', '102']);
});

t.test('checkpoints that are exempt keep their exports', async (t) => {
  const dir = t.testdir({ monolith_checkpoint: 'exempt_model_checkpoint_paths: "model.ckpt-10"\n' });
  const { save, versions } = await exporting(dir);
  await save(10);
  await rm(join(dir, 'model.ckpt-10.index'));
  await save(20);
  t.same(await versions(), ['100', '101']);
});

t.test('no folder but a version beside the state is removed, whatever the state says', async (t) => {
  const dir = t.testdir({ precious: { file: 'x' } });
  const { exportDir, save } = await exporting(dir);
  const entry = (path: string) => `entries { export_dir: "${path}" global_step: 1 }\n`;
  const state = `${entry(join(dir, 'precious'))}${entry(`${exportDir}/../precious`)}${entry(dir)}`;
  await writeFile(join(exportDir, 'ExportSaverListenerState'), state);
  await save(10);
  t.same(await readdir(join(dir, 'precious')), ['file']);
  t.equal(readExportState(exportDir).length, 1);
  await writeFile(join(exportDir, 'ExportSaverListenerState'), 'entries: 5');
  await t.rejects(save(20), { code: 'ML_PBTXT' });
});
