import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runFixtures } from '../src/testing/index.ts';
import { allPages } from './docs/markdown.ts';
import { scenariosOf, writeFixture } from './docs/scenario.ts';
for (const s of allPages().flatMap(scenariosOf)) test(s.title, async () => {
  const f = mkdtempSync(path.join(tmpdir(), 'doc-'));
  writeFixture(f, s);
  const r = await runFixtures(f);
  expect(r.results.flatMap((x) => x.problems).join('\n')).toBe('');
});
