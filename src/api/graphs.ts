/**
 * @file Graphs as a whole: descriptions, collections, devices, variables that are read from copies. `graphs` of the
 * package.
 */
export {
  assignAllCachedVariables,
  CACHED_VARIABLES,
  type CachedVariableAssociates,
  cachedCopiesOf,
  cachedVariableCreator,
  fetchAllCachedVariables,
} from '../graph/cached-variables.js';
export { checkOpsDependence } from '../graph/check-ops-dependence.js';
export { type DeviceFunction, type DeviceScope, psDevice, roundRobinVariables } from '../graph/device.js';
export type { VariableCreator, VariableOptions } from '../graph/graph.js';
export {
  describeGraph,
  type GraphDescription,
  graphDescription,
  graphToJson,
  type OpDescription,
  readGraphJson,
} from '../graph/graph-description.js';
export { UPDATE_OPS } from '../graph/ops/norms.js';
export { LOCAL_VARIABLES, VARIABLES } from '../graph/ops/state.js';
export { TABLES } from '../sparse/steps/embedding-ops.js';
