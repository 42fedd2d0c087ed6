/** @file Models that work with any schema. `zoo` of the package. */
export { type DcnOptions, dcn, deepfm, wideAndDeep } from '../zoo/deep.js';
export { type DinOptions, din } from '../zoo/din.js';
export { ffm, fm } from '../zoo/fm.js';
export { lr } from '../zoo/lr.js';
export { type MmoeModelOptions, mmoe } from '../zoo/mmoe.js';
export { type TwoTowersOptions, twoTowers } from '../zoo/two-towers.js';
export type { DeepOptions, EmbeddingOptions, ZooOptions } from '../zoo/zoo-model.js';
