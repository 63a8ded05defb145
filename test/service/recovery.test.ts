import { execFile } from 'node:child_process';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { json, startApi } from '../cli/support.ts';
import { books, worldOf } from './domain/runs/support.ts';
import { isOnPostgres } from './database.ts';
import { freshStore, OVER, type FreshStore } from './fresh-store.ts';
import { request } from './harness.ts';
import { hasPrograms } from './platform/database/pair.ts';
import { serveProcess, type Served } from './serve-process.ts';

const run = promisify(execFile);
const SCRIPT = fileURLToPath(new URL('../../scripts/postgres.sh', import.meta.url));

// A server of its own, which is put back to an earlier moment as its handbook tells it.
describe.runIf(isOnPostgres && hasPrograms)(
  `a database that was recovered to an earlier moment, with ${OVER}`,
  () => {
    let dir: string;
    let store: FreshStore;
    beforeEach(async () => {
      dir = await mkdtemp(path.join(tmpdir(), 'recovery-'));
      store = await freshStore();
    });
    afterEach(async () => {
      for (const name of ['before', 'after'])
        await run('bash', [SCRIPT, 'stop', path.join(dir, name), 'immediate']).catch(() => undefined);
      await store.close();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    });

    const serve = async (url: string): Promise<Served> =>
      await serveProcess(['--database', url, ...store.named(), '--runs=3'], {
        ...store.keys,
        GEX_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      });
    const worldAt = ({ url }: Served, token: string) =>
      worldOf({
        addresses: { url, parts: {} },
        dir,
        token,
        call: async (method, at, body?: unknown, headers?: Record<string, string>) =>
          await request(url, token, method, at, body, headers),
      });

    test('does its runs, those that it has forgotten and that one that was at work', async () => {
      if (process.getuid?.() === 0) {
        const { stdout } = await run('id', ['-u', 'postgres']);
        await chown(dir, Number(stdout), -1);
      }
      let isHeld = true;
      let holds = Promise.withResolvers<void>();
      const slow = await startApi((_request, response) => {
        if (isHeld) void holds.promise.then(() => json(response, [{ id: 'slow' }]));
        else json(response, [{ id: 'slow' }]);
      });
      let name = 'lost';
      const quick = await startApi((_request, response) => json(response, [{ id: name }]));

      const { stdout: before } = await run('bash', [
        SCRIPT,
        'start',
        path.join(dir, 'before'),
        await freePort(),
      ]);
      const first = await serve(before.trim());
      const { token } = first;
      const world = worldAt(first, token);
      await world.configure('quick', books(quick.url));
      await world.configure('slow', books(slow.url, { outputBucket: 'slow' }));
      const atWork = await world.start('slow');
      await expect.poll(() => slow.seen.length).toBe(1);
      await backUp(before.trim(), path.join(dir, 'after'));

      // From here on nothing is in the copy: a run from its beginning, and a later attempt of one that it has.
      const lost = await world.start('quick');
      expect(await world.ended(lost.id)).toMatchObject({ status: 'success' });
      first.kill();
      isHeld = false;
      holds.resolve();
      const second = await serve(before.trim());
      expect(await worldAt(second, token).ended(atWork.id)).toMatchObject({ status: 'success', attempt: 2 });
      second.kill();
      await run('bash', [SCRIPT, 'stop', path.join(dir, 'before'), 'immediate']);
      holds = Promise.withResolvers();

      name = 'new';
      const { stdout: after } = await run('bash', [
        SCRIPT,
        'start',
        path.join(dir, 'after'),
        await freePort(),
      ]);
      const third = await serve(after.trim());
      const again = worldAt(third, token);
      expect((await again.call('GET', `runs/${lost.id}`)).status).toBe(404);
      expect(await again.ended(atWork.id)).toMatchObject({ status: 'success', attempt: 2 });
      expect(await again.rows('in.c-slow.books')).toEqual(['"slow"']);
      const next = await again.start('quick');
      expect(Number(next.id)).toBeGreaterThan(Number(lost.id));
      expect(await again.ended(next.id)).toMatchObject({ status: 'success' });
      expect(await again.rows('in.c-library.books')).toEqual(['"new"']);
      expect(third.said()).toContain('The database was recovered');
      await third.stop();

      // It is looked at once: the next start leaves out nothing.
      const last = await serve(after.trim());
      const { id } = await worldAt(last, token).start('quick');
      expect(Number(id) - Number(next.id)).toBeLessThan(1_000_000);
    }, 240_000);
  },
);

/** Copies a running server, so that its copy ends its recovery at the moment of the copy. */
async function backUp(url: string, folder: string): Promise<void> {
  const code = `set -e; bin=$(ls -d \${PG_BIN:-/usr/lib/postgresql/*/bin} | sort -V | tail -n 1)
    as() { if [ "$(id -u)" -eq 0 ]; then (cd / && exec setpriv --reuid=postgres --regid=postgres --init-groups "$@"); else "$@"; fi; }
    as mkdir "$2"
    as "$bin/pg_basebackup" -d "$1" -D "$2/data" -X stream --checkpoint=fast
    printf "recovery_target = 'immediate'\\nrecovery_target_action = 'promote'\\nrestore_command = 'false'\\n" | as tee -a "$2/data/postgresql.auto.conf"
    as touch "$2/data/recovery.signal"`;
  await run('bash', ['-c', code, 'copy', url, folder]);
}

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return String(typeof address === 'object' ? address?.port : '');
}
