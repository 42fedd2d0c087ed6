/** @file `monolith-ts/serve`: models that were exported, in the program that asks them. */

export { DeltaHook, type DeltaHookOptions } from '../serve/fresh/delta-hook.js';
export { type FollowEvent, Follower, type FollowOptions } from '../serve/fresh/follow.js';
export { ParameterSyncClient } from '../serve/fresh/parameter-sync-client.js';
export { ParameterSyncHook, type ParameterSyncOptions } from '../serve/fresh/parameter-sync-hook.js';
export { type FreshnessResult, reportFreshness } from '../serve/fresh/report-freshness.js';
export { createSyncBackend, FolderSyncBackend, LocalSyncBackend } from '../serve/fresh/sync-backends.js';
export type { ClientConfig, PushResponse, PushResult, SyncTarget } from '../serve/fresh/sync-target.js';
export { loadModel } from '../serve/load-model.js';
export type { LoadedHead, LoadedModel, LoadModelOptions } from '../serve/loaded-model.js';
export type { Listening } from '../serve/online/http-server.js';
export { createPredictHandler, type HandlerOptions, type PredictHandler } from '../serve/online/predict-handler.js';
export { ServeMetrics } from '../serve/online/serve-metrics.js';
export { type ServeOptions, type Serving, serveModels } from '../serve/online/serve-models.js';
export {
  ServedModel,
  type ServedModelOptions,
  type ServeEvent,
  type VersionState,
} from '../serve/online/served-model.js';
