/** @file CpuTrainingConfig and DistributedCpuTrainingConfig: what a training process is told (cpu_training). */
import { extendRecord, recordClass } from './config-record.js';
import { cpuTrainingFields, distributedFields } from './training-fields.js';

/**
 * Settings of one training process.
 *
 * ```ts
 * const config = new CpuTrainingConfig({ numPs: 2, embeddingPrefetchCapacity: 1 });
 * ```
 */
export class CpuTrainingConfig extends recordClass(cpuTrainingFields) {
  /** Whether tables and dense variables both are of workers that step together. */
  get enableFullSyncTraining(): boolean {
    return this.enableSyncTraining && !this.enablePartialSyncTraining;
  }
}

/** Settings of one process of a cluster. */
export class DistributedCpuTrainingConfig extends extendRecord(CpuTrainingConfig, distributedFields) {}
