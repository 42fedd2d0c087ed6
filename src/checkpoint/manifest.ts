/**
 * @file What `monolith_model.json` says of a checkpoint: whose it is, and size and checksum of each of its other files.
 */
import type { InputState } from '../base/input-state.js';
import type { SpaceRecord } from '../sparse/files/table-space.js';
import type { DenseLayout, Settings, TableLayout } from './snapshot.js';

export interface ManifestFile {
  /** What follows the prefix: `.index`, or `.assets/<name>`. */
  readonly suffix: string;
  readonly bytes: number;
  readonly crc32c: string;
}

export interface ManifestTable extends TableLayout {
  readonly rowCount: number;
  /** Shard names inside the assets, in order. */
  readonly files: readonly string[];
}

export interface ManifestFilter {
  readonly name: string;
  /** One per split, in order. */
  readonly files: readonly string[];
}

export interface Manifest {
  readonly model: string;
  readonly step: number;
  readonly settings?: Settings | undefined;
  /** Where the input stood; left out when the training has none that can tell. */
  readonly input?: InputState | undefined;
  readonly dense: readonly DenseLayout[];
  readonly tables: readonly ManifestTable[];
  /** What tables took of their memory; left out when that cannot be told. */
  readonly space?: SpaceRecord | undefined;
  /** Left out when there is none. */
  readonly filters?: readonly ManifestFilter[] | undefined;
  readonly files: readonly ManifestFile[];
}
