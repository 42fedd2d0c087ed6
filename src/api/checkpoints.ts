/** @file Checkpoints: saved, found and loaded, and tied to a session. `checkpoints` of the package. */

export type { FileStat, FileSystem, ReadableFile, WritableFile } from '../base/files/file-system.js';
export { registerFileSystem } from '../base/files/file-systems.js';
export type { CopiedCheckpoint, CopyCheckpointOptions } from '../checkpoint/copy-checkpoint.js';
export type { CheckpointStatus, ListedCheckpoint, ModelDirContents } from '../checkpoint/list-checkpoints.js';
export type { LoadedCheckpoint } from '../checkpoint/load-checkpoint.js';
export {
  copyCheckpoint,
  latestCheckpoint,
  listCheckpoints,
  loadCheckpoint,
  prepareModelDir,
  pruneCheckpoints,
  saveCheckpoint,
} from '../checkpoint/on-demand.js';
export type { Pruned, PruneOptions } from '../checkpoint/prune-checkpoints.js';
export { RESTORE_MODES, type RestoreMode, type RestoreOptions } from '../checkpoint/restore-options.js';
export {
  type RestoredItem,
  type RestoreOutcome,
  type RestoreReport,
  reportText,
} from '../checkpoint/restore-report.js';
export { restoreSession } from '../checkpoint/restore-session.js';
export type { SavedCheckpoint, SaveOptions } from '../checkpoint/save-checkpoint.js';
export { snapshotSession } from '../checkpoint/session-snapshot.js';
export type { DenseValue, ModelLayout, Snapshot, TableRow, TableSnapshot } from '../checkpoint/snapshot.js';
