import { describe, expect, test } from 'vitest';
import { json, startApi } from '../../../cli/support.ts';
import { books, startWorld } from './support.ts';

interface Progress {
  readonly pages: number;
  readonly rows: number;
  readonly requests: number;
  readonly retries: number;
  readonly waitedMs: number;
  readonly waiting?: { readonly for: string };
  readonly last?: { readonly request: string; readonly status?: number };
  readonly jobs: readonly { readonly job: string; readonly pages: number }[];
}

/** Events of a stream, until one of the name that is waited for fulfils the condition. */
async function until(
  response: Response,
  holds: (name: string, data: Record<string, unknown>) => boolean,
): Promise<{ readonly names: string[]; readonly lines: string[]; readonly lastId: string }> {
  const names: string[] = [];
  const lines: string[] = [];
  let lastId = '';
  let text = '';
  for await (const part of response.body ?? []) {
    text += Buffer.from(part as Uint8Array).toString();
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const name = /^event: (.*)$/m.exec(block)?.[1];
      if (name === undefined) continue;
      const data = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}') as Record<string, unknown>;
      lastId = /^id: (.*)$/m.exec(block)?.[1] ?? lastId;
      names.push(name);
      if (name === 'log')
        lines.push(...(data['lines'] as { message: string }[]).map(({ message }) => message));
      if (holds(name, data)) return { names, lines, lastId };
    }
  }
  return { names, lines, lastId };
}

describe('a run that goes on', () => {
  test(
    'tells how far it is, what it waits for, and its log as a stream that goes on where it was',
    { tags: 'thorough' },
    async () => {
      let isFailing = true;
      const api = await startApi(({ url }, response) => {
        const page = Number(url.searchParams.get('page') ?? 1);
        if (page === 2 && isFailing) json(response, {}, 503);
        else json(response, page < 3 ? [{ id: page * 2 }, { id: page * 2 + 1 }] : []);
      });
      const world = await startWorld();
      const { parameters } = books(api.url) as { parameters: { api: object } };
      const pagination = { method: 'pagenum', limit: 2 };
      await world.configure('a', { parameters: { ...parameters, api: { ...parameters.api, pagination } } });
      const { id } = await world.start('a');
      let seen: Progress | undefined;
      await expect
        .poll(
          async () => {
            const { progress } = (await world.call('GET', `runs/${id}`)).body as { progress?: Progress };
            seen = progress ?? seen;
            return progress?.waiting?.for;
          },
          { timeout: 40_000, interval: 50 },
        )
        .toBe('retry');
      expect(seen).toMatchObject({
        pages: 1,
        rows: 2,
        jobs: [{ job: 'books', pages: 1 }],
        last: { status: 503 },
      });
      expect(seen?.retries).toBeGreaterThan(0);
      expect(seen?.last?.request).toContain('page=2');
      // A wait counts as far as it has gone: a run has never waited longer than it took.
      const { body } = await world.call('GET', `runs/${id}`);
      const { startTime, progress } = body as { startTime: string; progress: Progress };
      expect(progress.waitedMs).toBeGreaterThanOrEqual(0);
      // Times of runs are told in whole seconds.
      expect(progress.waitedMs).toBeLessThanOrEqual(Date.now() - Date.parse(startTime) + 1000);

      const ask = async (headers: Record<string, string> = {}): Promise<Response> =>
        await fetch(`${world.addresses.url}/v2/storage/runs/${id}/events`, {
          headers: { 'X-StorageApi-Token': world.token, ...headers },
        });
      const first = await ask();
      expect(first.headers.get('content-type')).toBe('text/event-stream');
      const begun = await until(first, (name, data) => name === 'run' && data['progress'] !== undefined);
      expect(begun.lines.length).toBeGreaterThan(0);
      isFailing = false;
      const rest = await until(await ask({ 'Last-Event-ID': begun.lastId }), (name) => name === 'end');
      expect(rest.names.at(-1)).toBe('end');
      const all = (await world.log(id)).map(({ message }) => message);
      expect([...begun.lines, ...rest.lines]).toEqual(all);
      const run = (await world.call('GET', `runs/${id}`)).body as { progress?: unknown; rows: unknown[] };
      expect(run.progress).toBeUndefined();
      expect(run.rows).toHaveLength(1);
    },
  );

  test('is followed by nobody without a right to it', async () => {
    const world = await startWorld();
    const { status } = await world.call('GET', 'runs/123/events');
    expect(status).toBe(404);
  });
});
