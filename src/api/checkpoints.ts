/** @file Checkpoints: saved, found and loaded, and tied to a session. `checkpoints` of the package. */
export { type LoadedCheckpoint, latestCheckpoint, loadCheckpoint } from '../checkpoint/load-checkpoint.js';
export { prepareModelDir } from '../checkpoint/model-dir.js';
export { type SavedCheckpoint, type SaveOptions, saveCheckpoint } from '../checkpoint/save-checkpoint.js';
export { restoreSession, snapshotSession } from '../checkpoint/session-snapshot.js';
export type { DenseValue, ModelLayout, Snapshot, TableRow, TableSnapshot } from '../checkpoint/snapshot.js';
