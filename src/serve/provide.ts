/** @file Tells the estimator who writes and reads models: what serves comes after training in the order of folders. */
import { provideExporter, provideImporter } from '../train/exporter.js';
import { provideParameterSync } from '../train/tasks/parameter-sync.js';

provideExporter(async () => (await import('./export-model.js')).exportModel);
provideImporter(async () => (await import('./saved-model/import-saved-model.js')).importSavedModel);
provideParameterSync(async () => {
  const [{ createSyncBackend }, { ParameterSyncHook }] = await Promise.all([
    import('./fresh/sync-backends.js'),
    import('./fresh/parameter-sync-hook.js'),
  ]);
  return {
    backend: createSyncBackend,
    hook: (backend, psIndex, options) => new ParameterSyncHook(backend, psIndex, options),
  };
});
