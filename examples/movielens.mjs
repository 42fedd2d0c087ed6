/**
 * @file Ratings in the shape of MovieLens: DeepFM ranks films for people by who they are and what genres a film has.
 *
 * The ratings are made up by a rule, so the best AUC that can be is known, and printed beside that of the model.
 * Run it from a checkout after `npm ci`: `node examples/movielens.mjs [thousands of ratings]`.
 */
import { defineSchema, Estimator, f, metrics, zoo } from 'monolith-ts';

const count = 1000 * Number(process.argv[2] ?? 100);
const [users, films] = [600, 1000];
const genres = ['drama', 'comedy', 'crime', 'romance', 'action', 'horror', 'fantasy', 'war'];

/** A number from -1 to 1 that belongs to some ids: who likes what. */
function trait(...ids) {
  let hash = 7;
  for (const id of ids) hash = Math.imul(hash ^ (id + 1) ^ (hash >>> 15), 0x9e3779b1);
  return ((Math.imul(hash ^ (hash >>> 13), 0x85ebca6b) >>> 8) / 2 ** 24) * 2 - 1;
}
let state = 1;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

function rating() {
  const userId = Math.floor(users * random());
  const movieId = Math.floor(films * random() ** 2); // a few films are seen by most
  const kinds = genres.filter((_, genre) => trait(movieId, genre, 3) > 0.4);
  const fits = kinds.reduce((sum, kind) => sum + trait(userId, genres.indexOf(kind), 4), 0);
  const chance = 1 / (1 + Math.exp(-(0.4 + 1.2 * trait(userId, 1) + 2 * trait(movieId, 2) + 1.5 * fits)));
  return { userId: `u${userId}`, movieId, genres: kinds.join('|'), like: random() < chance ? 1 : 0, chance };
}

const ratings = Array.from({ length: count }, rating);
const test = ratings.splice(0, count / 10);
const validation = ratings.splice(0, count / 10);

const schema = defineSchema({
  userId: f.id(),
  movieId: f.id(),
  genres: f.ids({ split: '|', max: 8 }),
  like: f.label(),
});
const estimator = new Estimator(zoo.deepfm(schema, { dim: 8 }), { batchSize: 128, seed: 1 });
await estimator.train(ratings, {
  epochs: 6,
  evaluate: { data: validation, stopEarly: { metric: 'auc', patience: 2 } },
});

const { metrics: found, loss } = await estimator.evaluate(test);
const known = metrics.auc(
  Float32Array.from(test, ({ like }) => like),
  Float32Array.from(test, ({ chance }) => chance),
);
console.log(
  `held out: AUC ${found.auc.toFixed(4)}, loss ${loss.toFixed(4)}; the best that can be: ${known.toFixed(4)}`,
);

// The films that one user is shown first: each is scored, and the best come first.
const shown = [];
for (let movieId = 0; movieId < films; movieId++) {
  const kinds = genres.filter((_, genre) => trait(movieId, genre, 3) > 0.4);
  shown.push({ userId: 'u42', movieId, genres: kinds.join('|') });
}
const scored = [];
for await (const { row, prediction } of estimator.predict(shown)) scored.push({ movieId: row.movieId, prediction });
scored.sort((a, b) => b.prediction - a.prediction);
console.log(
  `for u42: ${scored
    .slice(0, 5)
    .map(({ movieId, prediction }) => `${movieId} (${prediction.toFixed(2)})`)
    .join(', ')}`,
);
await estimator.close();
