/** @file Tells the rows of each slot with every save, in `ckpt.info-<step>` (hooks/ckpt_info of native_training). */
import { join } from 'node:path';
import { MonolithError } from '../../base/errors.js';
import { writeFileAtomic } from '../../base/files/atomic-file.js';
import { MODEL_BASE } from '../../checkpoint/names.js';
import type { Graph } from '../../graph/graph.js';
import { formatCkptInfo } from '../../io/ckpt-info.js';
import type { Session } from '../../runtime/session/session.js';
import { slotOfFidV2 } from '../../sparse/config/fid.js';
import { TABLES } from '../../sparse/steps/embedding-ops.js';
import type { CheckpointSaverListener } from '../hooks/saver-listener.js';
import { heldWithin, TABLES_LIMIT_MS, tablesIn } from './session-tables.js';
import { infoFile } from './table-savers.js';

/** Slots from the last one on are counted together. */
const SLOTS = 102_400;

/** Counts all rows before each save: it reads every id. */
export class FidSlotCountSaverListener implements CheckpointSaverListener {
  readonly #modelDir: string;

  constructor(modelDir: string) {
    this.#modelDir = modelDir;
  }

  begin(graph: Graph): void {
    if (graph.getCollection(TABLES).length > 0) return;
    const reason = 'Unable to find hash tables. It may be caused by creating the listener before calling model_fn';
    throw new MonolithError('ML_SAVER', { reason });
  }

  async beforeSave(session: Session, step: number): Promise<void> {
    const slotCounts = new Map<number, number>();
    await heldWithin(session, 'the count of rows', TABLES_LIMIT_MS, async () => {
      for (const { table } of tablesIn(session)) {
        for (const { id } of table.rows()) {
          const slot = Math.min(slotOfFidV2(id), SLOTS - 1);
          slotCounts.set(slot, (slotCounts.get(slot) ?? 0) + 1);
        }
      }
    });
    await writeFileAtomic(infoFile(join(this.#modelDir, MODEL_BASE), step), formatCkptInfo({ slotCounts }));
  }
}
