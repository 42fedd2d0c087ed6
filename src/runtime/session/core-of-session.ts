/** @file What all cores of sessions are: `instanceof` tells one from a session without loading either. */
export abstract class CoreOfSession {}
