// Pushes through a proxy that holds requests, drops answers, answers 504, and passes requests on twice and late; and
// pushes whose service is restored from an earlier copy in the middle, while another client gets the same ids. Counts
// what is lost and doubled in tables without a primary key. Ends with exit code 1 when something was.
//
//   node bench/rough-pushes.ts [--pushes 200] [--seed 1] [--only keys|no-keys|restore]
import { parseArgs } from 'node:util';
import { roughPushes } from '../test/mapping/output/rough-pushes.ts';
import { printTable, seconds } from './support/figures.ts';

const { values: given } = parseArgs({
  options: {
    pushes: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});
const KINDS = {
  keys: { withKeys: true, withRestore: false },
  'no-keys': { withKeys: false, withRestore: false },
  restore: { withKeys: true, withRestore: true },
};

const lines: string[][] = [];
for (const [kind, how] of Object.entries(KINDS)) {
  if (given.only !== '' && given.only !== kind) continue;
  const pushes = Number(given.pushes);
  const begun = performance.now();
  const { rows, lost, doubled, foreign, continued, deeds } = await roughPushes({
    pushes,
    seed: Number(given.seed),
    ...how,
  });
  const figures = [pushes, continued, rows, lost.length, doubled.length, foreign.length].map(String);
  lines.push([kind, ...figures, seconds(performance.now() - begun)]);
  console.log(kind, JSON.stringify(deeds), [...lost, ...doubled, ...foreign].slice(0, 10).join(' '));
  if (lost.length + doubled.length + foreign.length > 0) process.exitCode = 1;
}
printTable(
  'Pushes into tables without a key',
  ['', 'pushes', 'continued', 'rows', 'lost', 'doubled', 'foreign', 'time'],
  lines,
);
