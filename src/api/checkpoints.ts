/** @file Checkpoints: saved, found and loaded, and tied to a session. `checkpoints` of the package. */
export type { LoadedCheckpoint } from '../checkpoint/load-checkpoint.js';
export { latestCheckpoint, loadCheckpoint, prepareModelDir, saveCheckpoint } from '../checkpoint/on-demand.js';
export type { SavedCheckpoint, SaveOptions } from '../checkpoint/save-checkpoint.js';
export { restoreSession, snapshotSession } from '../checkpoint/session-snapshot.js';
export type { DenseValue, ModelLayout, Snapshot, TableRow, TableSnapshot } from '../checkpoint/snapshot.js';
