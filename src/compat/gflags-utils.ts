/** @file gflags_utils: flags of a process, and records that take their values. */
export { type FlagDefinition, Flags as FlagValues } from '../train/config/flags.js';
export {
  type Documented,
  type ExtractFlagsOptions,
  extractFlags,
  extractHelpInfo,
  linkDataclassToFlags,
  parseFlags,
  update,
  updateByFlags,
} from '../train/config/gflags-utils.js';
export { defineProcessFlags, FLAGS } from '../train/config/process-flags.js';
