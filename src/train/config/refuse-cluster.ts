/** @file What of a configuration asks for other processes, which this version has not. */
import { MonolithError } from '../../base/errors.js';
import type { ResolvedConfig } from './resolved-config.js';

/** ML_RUNNER for a role, ML_UNIMPLEMENTED for a cluster, unless the run is told to stay in this process. */
export function refuseCluster({ isLocal, numPs, numWorkers, serverType, enableSyncTraining }: ResolvedConfig): void {
  if (serverType !== 'worker') {
    throw new MonolithError('ML_RUNNER', { reason: `server_type must be \`worker\` here, not ${serverType}` });
  }
  const asked = [
    [numPs > 0, `num_ps=${numPs}`],
    [numWorkers > 1, `num_workers=${numWorkers}`],
    [enableSyncTraining, 'enable_sync_training'],
  ] as const;
  const wanted = asked.filter(([is]) => is).map(([, name]) => name);
  if (isLocal || wanted.length === 0) return;
  const reason = 'training on a cluster is not in this version';
  const hint = 'add --is_local, which trains in this process with the tables in it';
  throw new MonolithError('ML_UNIMPLEMENTED', { what: wanted.join(', '), reason }, { hint });
}
