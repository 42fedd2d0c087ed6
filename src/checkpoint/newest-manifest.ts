/** @file What the newest checkpoint of a model directory says of itself, at once and without a look at its values. */
import { existsSync } from 'node:fs';
import { readWhole } from '../base/files/read-file.js';
import type { Manifest } from './manifest.js';
import { parseManifest } from './manifest-text.js';
import { readState } from './model-dir.js';
import { MANIFEST_SUFFIX } from './names.js';

/** The manifest of the newest checkpoint; null when there is no checkpoint, or one of the reference, without it. */
export function manifestOf(modelDir: string): Manifest | null {
  const state = readState(modelDir);
  if (state === null) return null;
  const file = `${state.modelCheckpointPath}${MANIFEST_SUFFIX}`;
  if (!existsSync(file)) return null;
  return parseManifest(readWhole(file, 'manifestBytes').toString('utf8'), file);
}
