import { createWriteStream } from 'node:fs';
import { once } from 'node:events';

/** Writes a CSV with a header and cells of six kinds, in a fixed sequence, so that runs can be compared. */
export async function writeWideCsv(target: string, names: readonly string[], rows: number): Promise<void> {
  const out = createWriteStream(target);
  let lines = [`${names.join(',')}\n`];
  let seed = 1;
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed % below;
  };
  const makers = [
    () => `user${random(100_000)}@example.com`,
    () => `"Name, with a comma ${random(10_000)}"`,
    () => `2026-${10 + random(3)}-${10 + random(18)}`,
    () => String(random(1_000_000_000)),
    () => `"He said ""${random(1000)}"""`,
    () => `text ${random(100)}`,
  ];
  for (let row = 0; row < rows; row++) {
    const cells = [String(row)];
    for (let i = 1; i < names.length; i++) cells.push(makers[i % makers.length]?.() ?? '');
    lines.push(`${cells.join(',')}\n`);
    if (lines.length < 10_000) continue;
    if (!out.write(lines.join(''))) await once(out, 'drain');
    lines = [];
  }
  out.end(lines.join(''));
  await once(out, 'close');
}
