/** @file Some hundred connections that say nothing or little; ten thousand are in the deep test. */
import t from 'tap';
import { manyConnections } from './many-connections.js';

t.test('a server that is full answers who is in, and tells who comes after', (t) => manyConnections(t, 300));
