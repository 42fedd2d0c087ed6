/** @file Tells the estimator who writes and reads models: what serves comes after training in the order of folders. */
import { provideExporter, provideImporter } from '../train/exporter.js';

provideExporter(async () => (await import('./export-model.js')).exportModel);
provideImporter(async () => (await import('./saved-model/import-saved-model.js')).importSavedModel);
