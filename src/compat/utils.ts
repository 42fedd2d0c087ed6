/** @file What of native_training/utils differs from another name in case only, and so stands in a namespace. */
export { params } from '../base/params/with-params.js';
