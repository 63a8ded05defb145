// @module-tag thorough
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createService } from '../../../../src/service/start/service.ts';
import { gexHere } from '../../../cli/support.ts';
import { SERVER } from '../../stores/tables/postgres/database.ts';
import { EXTENSIONS } from '../../stores/tables/lake/support.ts';
import { answersOf, fill, type Filled } from './filled.ts';
import { createPlaces } from './places.ts';
import { serveFolder } from './serve-folder.ts';

/* Tables in a lake: a storage is moved into it and out of it, backed up and restored, and answers the same. */

describe.runIf(EXTENSIONS)('a lake', () => {
  let work: string;
  let source: string;
  let lake: string;
  let filled: Filled;
  let answers: unknown;

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'lake-'));
    source = join(work, 'source');
    lake = join(work, 'lake');
    const api = await serveFolder(source);
    filled = await fill(api);
    await api.stop();
    answers = await answersIn(source);
    const moved = await gexHere('storage', 'migrate', '--from', source, '--to', lake, '--to-tables', 'lake');
    expect(moved.stderr).toContain('every row and every byte was compared');
    expect(moved.stdout).toMatch(/^rows of tables +7 +/m);
  });
  afterAll(async () => {
    await rm(work, { recursive: true, force: true });
  });

  async function answersIn(dir: string): Promise<unknown> {
    const api = await serveFolder(dir, filled.token);
    try {
      return withoutLater(await answersOf(api, filled));
    } finally {
      await api.stop();
    }
  }

  test('in a folder answers what the tables in a file answered', async () => {
    expect(existsSync(join(lake, 'tables', 'lake', 'catalogue.ducklake'))).toBe(true);
    expect(existsSync(join(lake, 'tables', 'tables.duckdb'))).toBe(false);
    expect(await answersIn(lake)).toEqual(answers);
  });

  test('is not left by an option, nor come to by one', async () => {
    await expect(createService({ dir: lake, tables: 'own' }).start()).rejects.toMatchObject({
      code: 'lake.elsewhere',
      message: 'The tables of this storage are in a lake.',
    });
    await expect(createService({ dir: source, tables: 'lake' }).start()).rejects.toMatchObject({
      code: 'lake.elsewhere',
    });
  });

  test('a start without the extensions says what to do', async () => {
    const start = createService({ dir: lake, duckdbExtensions: '/no/such' }).start();
    await expect(start).rejects.toMatchObject({ code: 'lake.extension' });
  });

  test('is backed up while its service runs, as a folder with its tables in a file', async () => {
    const tar = join(work, 'running.tar');
    const restored = join(work, 'restored');
    const api = await serveFolder(lake, filled.token);
    try {
      expect(await gexHere('storage', 'backup', tar, '--storage', lake)).toMatchObject({ code: 0 });
    } finally {
      await api.stop();
    }
    expect(await gexHere('storage', 'restore', tar, '--to', restored)).toMatchObject({ code: 0 });
    expect(existsSync(join(restored, 'tables', 'tables.duckdb'))).toBe(true);
    expect(await answersIn(restored)).toEqual(answers);
  });

  test('is backed up as it is while no service runs, and goes back into a file', async () => {
    const tar = join(work, 'stopped.tar');
    const restored = join(work, 'again');
    const own = join(work, 'own');
    expect(await gexHere('storage', 'backup', tar, '--storage', lake)).toMatchObject({ code: 0 });
    expect(await gexHere('storage', 'restore', tar, '--to', restored)).toMatchObject({ code: 0 });
    expect(await answersIn(restored)).toEqual(answers);
    expect(await gexHere('storage', 'migrate', '--from', restored, '--to', own)).toMatchObject({ code: 0 });
    expect(existsSync(join(own, 'tables', 'tables.duckdb'))).toBe(true);
    expect(await answersIn(own)).toEqual(answers);
  });

  describe.runIf(SERVER)('over a database', () => {
    const places = createPlaces();
    afterAll(() => places.drop());

    test('answers the same, is backed up by the number of a version, and goes into a database', async () => {
      const place = await places.make();
      const moved = await places.gex(
        'migrate',
        '--from',
        lake,
        ...places.named('to', place),
        '--to-tables',
        'lake',
      );
      expect(moved.stderr).toContain('every row and every byte was compared');
      const key = (await readFile(join(source, 'encryption.key'), 'utf8')).trim();
      const api = await places.serve(place, key, filled.token);
      const tar = join(work, 'shared.tar');
      try {
        const { rows } = await place.database.pool.query(
          'SELECT count(*)::int AS files FROM gex_lake.ducklake_data_file WHERE end_snapshot IS NULL',
        );
        expect(rows).not.toEqual([{ files: 0 }]);
        const { code, stderr } = await places.gex('backup', tar, ...places.named('from', place));
        expect(code, stderr).toBe(0);
      } finally {
        await api.stop();
      }
      const restored = join(work, 'of-database');
      expect(await gexHere('storage', 'restore', tar, '--to', restored)).toMatchObject({ code: 0 });
      expect(existsSync(join(restored, 'tables', 'tables.duckdb'))).toBe(true);
      await copyFile(join(source, 'encryption.key'), join(restored, 'encryption.key'));
      expect(await answersIn(restored)).toEqual(answers);

      const other = await places.make();
      const back = await places.gex('migrate', ...places.named('from', place), ...places.named('to', other));
      expect(back.stderr).toContain('every row and every byte was compared');
      const { rows: own } = await other.database.pool.query(
        'SELECT sum(row_count)::int AS rows FROM gex.table_catalog',
      );
      expect(own).toEqual([{ rows: 7 }]);
    });
  });
});

/** Exports that were asked for in between are jobs and files that the other has not. */
function withoutLater(of: unknown): unknown {
  const {
    'jobs?limit=100': _jobs,
    'files?limit=100&showExpired=1': _files,
    'events?limit=100': _events,
    // When they were used last.
    tokens: _tokens,
    ...rest
  } = of as Record<string, unknown>;
  return rest;
}
