import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Migrator } from 'kysely/migration';
import { ulid } from 'ulid';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectMeta, openMeta } from '../../src/service/stores/metadata/database.ts';
import { findEvent, listEvents } from '../../src/service/stores/metadata/events.ts';
import { first } from '../../src/service/stores/metadata/migrations/0001-first.ts';
import { versionChanges } from '../../src/service/stores/metadata/migrations/0002-version-changes.ts';
import { requestKeys } from '../../src/service/stores/metadata/migrations/0003-request-keys.ts';
import { tokenBranches } from '../../src/service/stores/metadata/migrations/0004-token-branches.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'events-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

test('events of a folder of before are kept, each with a UUID of its own', async () => {
  const file = path.join(folder, 'meta.sqlite');
  const old = connectMeta(file);
  const before = {
    '0001-first': first,
    '0002-version-changes': versionChanges,
    '0003-request-keys': requestKeys,
    '0004-token-branches': tokenBranches,
  };
  await new Migrator({ db: old, provider: { getMigrations: async () => before } }).migrateToLatest();
  for (let id = 1; id <= 1002; id++) {
    const rest = {
      branch_id: 1,
      event: 'e',
      component: 'c',
      type: 'info',
      message: `number ${id}`,
      description: '',
    };
    const written = { params: '[]', results: '[]', token_id: 1, token_description: 't', created: 'now' };
    // Of the schema of before, which had no names of objects.
    const row = { id, uuid: ulid(), ...rest, ...written } as unknown as Parameters<typeof insert>[0];
    await insert(row);
  }
  async function insert(row: NonNullable<Awaited<ReturnType<typeof findEvent>>>): Promise<void> {
    await old.insertInto('events').values(row).execute();
  }
  await old.destroy();

  const meta = await openMeta(file);
  const events = await listEvents(meta, 1, { projectId: 1, limit: 10_000 });
  expect(new Set(events.map(({ uuid }) => uuid)).size).toBe(1002);
  for (const { uuid } of events) expect(uuid).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(await findEvent(meta, events[0]?.uuid ?? '')).toMatchObject({ message: 'number 1002' });
  await meta.destroy();
});
