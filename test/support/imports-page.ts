/** @file The page docs/imports.md: rooms of src/ in their order, and who imports whom how often. */
import { cycles, type ImportGraph } from './import-graph.js';
import { ORDER, roomOf } from './rooms.js';

interface Room {
  files: number;
  inside: number;
  /** Imports from other rooms, by room. */
  readonly from: Map<string, number>;
}

/** Counts of every room that has files, in the order of rooms. */
function countRooms(graph: ImportGraph): Map<string, Room> {
  const rooms = new Map(ORDER.flat().map((name) => [name, { files: 0, inside: 0, from: new Map() } as Room]));
  for (const [file, targets] of graph) {
    const name = roomOf(file);
    if (name === null) continue;
    const room = rooms.get(name)!;
    room.files++;
    for (const target of targets) {
      const to = roomOf(target)!;
      if (to === name) room.inside++;
      else room.from.set(to, (room.from.get(to) ?? 0) + 1);
    }
  }
  return new Map([...rooms].filter(([, { files }]) => files > 0));
}

/** Folders each folder imports from, without those that it reaches through another of them. */
function folderEdges(rooms: ReadonlyMap<string, Room>): [string, string][] {
  const folderOf = (room: string) => room.split('/')[0]!;
  const direct = new Map<string, Set<string>>();
  for (const [name, { from }] of rooms) {
    const targets = direct.get(folderOf(name)) ?? new Set<string>();
    for (const room of from.keys()) if (folderOf(room) !== folderOf(name)) targets.add(folderOf(room));
    direct.set(folderOf(name), targets);
  }
  const reaches = (from: string, to: string): boolean =>
    [...(direct.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  return [...direct].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => ![...targets].some((other) => other !== to && reaches(other, to)))
      .map((to): [string, string] => [from, to]),
  );
}

export function importsPage(graph: ImportGraph): string {
  const rooms = countRooms(graph);
  const total = (part: (room: Room) => number) => [...rooms.values()].reduce((sum, room) => sum + part(room), 0);
  const order = [...rooms.keys()];
  const across = (room: Room) => [...room.from.values()].reduce((sum, count) => sum + count, 0);
  const rows = [...rooms].map(([name, room]) => {
    const from = [...room.from].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
    const cells = [`\`${name}\``, room.files, room.inside, from.map(([to, n]) => `${to} ${n}`).join(', ')];
    return `| ${cells.join(' | ')} |`;
  });
  return `# Imports

<!-- Made by \`npm run docs:imports\` from the sources; \`test/imports.test.ts\` compares. -->

Who imports whom in \`src\`: ${rooms.size} rooms, ${total(({ files }) => files)} files,
${total(({ inside }) => inside)} imports within rooms and ${total(across)} between them; types count.
A room imports only from rooms above it in the table; \`test/support/rooms.ts\` has the order.
Groups of files that import each other in a circle: ${cycles(graph).length}.

An arrow says that a folder imports another; what it also reaches through a third has none.

\`\`\`mermaid
graph BT
${folderEdges(rooms)
  .map(([from, to]) => `  ${from} --> ${to}`)
  .join('\n')}
\`\`\`

| room | files | imports within | imports from |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}
