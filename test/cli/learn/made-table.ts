/** @file A small table of ratings to train on, drawn by a seed: users and items with tastes, a time, a text, a list. */
import { hashUniform } from '../../../src/base/random.js';

export interface MadeTable {
  readonly ratings: string;
  readonly items: string;
}

/** `rows` ratings; a user likes an item the more their hidden tastes agree. */
export function madeTable(rows = 4000, { users = 60, items = 80 } = {}): MadeTable {
  const taste = (side: number, id: number) => hashUniform(7, side, id) * 2 - 1;
  const lines = Array.from({ length: rows }, (_, row) => {
    const user = Math.floor(hashUniform(1, row) * users);
    const item = Math.floor(hashUniform(2, row) * items);
    const likes = 1.2 * taste(1, user) + 2 * taste(2, item) + 2 * taste(3, user) * taste(4, item);
    const rating = Math.round(Math.min(5, Math.max(1, 3 + likes + hashUniform(3, row) - 0.5)));
    return `u${user},${1000 + item},${rating},${1_500_000_000 + row * 60},${(hashUniform(4, row) * 90).toFixed(1)}`;
  });
  const kinds = ['drama', 'comedy', 'crime', 'romance'];
  const named = Array.from({ length: items }, (_, item) => {
    const list = kinds.filter((_kind, index) => hashUniform(5, item, index) < 0.5).join('|') || 'none';
    return `${1000 + item},"Title, number ${item}",${list}`;
  });
  return {
    ratings: `${['userId,itemId,rating,timestamp,price', ...lines].join('\n')}\n`,
    items: `${['itemId,title,genres', ...named].join('\n')}\n`,
  };
}
