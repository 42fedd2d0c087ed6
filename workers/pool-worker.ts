/** @file Entry point of a pool thread: piscina hands it its one task. */
import { joinSession } from '../src/runtime/pool/join-session.js';

export default joinSession;
