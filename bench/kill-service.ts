// Kills the storage service at twenty random moments: `node bench/kill-service.ts [kills] [--lake]`.
import { parseArgs } from 'node:util';
import { killRounds } from '../test/service/data/kill-rounds.ts';

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: { lake: { type: 'boolean', default: false } },
});
const args = given.lake ? ['--tables', 'lake'] : [];
const { kills, acknowledged, restartMs, lost } = await killRounds(Number(positionals[0] ?? 20), { args });
const sorted = restartMs.toSorted((a, b) => a - b);
console.log(`kills                 ${kills}`);
console.log(
  `acknowledged          ${acknowledged.versions} versions, ${acknowledged.files} files, ${acknowledged.jobs} imports`,
);
console.log(`restart, median       ${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)} ms`);
console.log(`restart, longest      ${Math.round(sorted.at(-1) ?? 0)} ms`);
console.log(`lost                  ${lost.length === 0 ? 'nothing' : lost.join('; ')}`);
if (lost.length > 0) process.exitCode = 1;
