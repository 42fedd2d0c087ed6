/** @file The record of RunnerConfig, before anything is merged into it. */
import { extendRecord } from './config-record.js';
import { runnerFields } from './runner-fields.js';
import { DistributedCpuTrainingConfig } from './training-config.js';

export class RunnerFields extends extendRecord(DistributedCpuTrainingConfig, runnerFields) {}
