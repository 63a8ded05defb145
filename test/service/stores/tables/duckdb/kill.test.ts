// @module-tag thorough
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDuckDbEngine } from '../../../../../src/service/stores/tables/duckdb/engine.ts';

const SCRIPT = join(import.meta.dirname, 'import-until-killed.ts');
const TABLE = { bucket: 'in.c-kill', table: 'rows' };

test('kill -9 during imports leaves the last acknowledged one, whole; another process is refused meanwhile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kill-'));
  try {
    for (const waitMs of [0, 7, 23]) {
      const child = spawn(process.execPath, [SCRIPT, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.on('data', (text: Buffer) => (output += text.toString()));
      while (!output.includes('2\n')) await once(child.stdout, 'data');
      const intruder = createDuckDbEngine({ folder });
      await expect(intruder.open()).rejects.toMatchObject({
        code: 'storage.tables.locked',
        message: expect.stringContaining(String(child.pid)) as string,
      });
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      child.kill('SIGKILL');
      await once(child, 'close');

      const engine = createDuckDbEngine({ folder });
      await engine.open();
      const acknowledged = Number(output.trim().split('\n').at(-1));
      const [first] = (await engine.preview(TABLE, { limit: 1 })).rows;
      const round = Number(first?.[1]);
      expect([acknowledged, acknowledged + 1]).toContain(round);
      expect(await engine.describe(TABLE)).toMatchObject({ rows: 20_000, primaryKey: ['id'] });
      expect(
        (
          await engine.preview(TABLE, {
            where: [{ column: 'round', operator: 'ne', values: [String(round)] }],
          })
        ).rows,
      ).toEqual([]);
      expect(await readdir(join(folder, 'spool'))).toEqual([]);
      await engine.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);
