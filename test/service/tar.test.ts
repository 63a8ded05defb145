import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tarEnd, tarHeader, tarPadding } from '../../src/lib/tar/tar.ts';

test('tar reads what was written, long names and odd letters included', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'tar-'));
  try {
    const names = ['short', `${'long/'.repeat(30)}name`, 'ěš/ž', 'x'.repeat(100), 'y'.repeat(101)];
    const parts = names.flatMap((name, i) => {
      const body = Buffer.from('z'.repeat(i * 300));
      return [
        tarHeader({ name, bytes: body.length, modifiedAt: 1_700_000_000_000 }),
        body,
        tarPadding(body.length),
      ];
    });
    const file = join(dir, 'a.tar');
    await writeFile(file, Buffer.concat([...parts, tarEnd()]));
    execFileSync('tar', ['-xf', file, '-C', dir]);
    for (const [i, name] of names.entries()) {
      expect(await readFile(join(dir, name), 'utf8')).toBe('z'.repeat(i * 300));
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});

test('a file of more than 8 GB has its size in front', () => {
  const header = tarHeader({ name: 'big', bytes: 9_000_000_000, modifiedAt: 0 });
  expect(header.toString('latin1')).toContain('19 size=9000000000\n');
});
