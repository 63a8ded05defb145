import { expect, test } from 'vitest';
import { eventStream, lastEventId } from '../../src/service/http/event-stream.ts';
import { route } from '../../src/service/http/route.ts';
import type { MakePart } from '../../src/service/start/service-options.ts';
import { startService } from './harness.ts';

const ended: string[] = [];

/** Three events behind the one that the client had last, and then nothing for as long as it listens. */
const part: MakePart = (context) => ({
  routes: [
    route({
      method: 'GET',
      path: '/ticks',
      summary: 'Ticks',
      tag: 'Test',
      handle: ({ request }) =>
        eventStream(
          context,
          async function* (signal) {
            const first = Number(lastEventId(request) ?? 0) + 1;
            try {
              for (let id = first; id < first + 3; id++)
                yield { id: String(id), event: 'tick', data: { text: 'two\nlines' } };
              await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
            } finally {
              ended.push(`behind ${first}`);
            }
          },
          { beatMs: 50 },
        ),
    }),
  ],
});

async function read(response: Response, until: RegExp): Promise<string> {
  let text = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (!until.test(text)) {
    const next = await reader?.read();
    if (next === undefined || next.done) break;
    text += next.value;
  }
  await reader?.cancel();
  return text;
}

test('events come as they are, a silent stream is heard of, and who comes again goes on', async () => {
  const service = await startService({ parts: [part] });
  try {
    const listen = async (headers: Record<string, string> = {}): Promise<Response> =>
      await fetch(`${service.addresses.url}/v2/storage/ticks`, {
        headers: { 'X-StorageApi-Token': service.token, ...headers },
      });
    const first = await listen();
    expect(first.headers.get('content-type')).toBe('text/event-stream');
    const text = await read(first, /still here[^]*still here/);
    expect(text).toMatch(/^retry: 2000\n\nid: 1\nevent: tick\ndata: \{"text":"two\\nlines"\}\n\nid: 2\n/);
    await expect.poll(() => ended).toContain('behind 1');
    expect(await read(await listen({ 'Last-Event-ID': '3' }), /id: 6\n/)).toContain('\nid: 4\n');
  } finally {
    await service.stop();
  }
});

test('a stream does not hold up a service that stops', async () => {
  const service = await startService({ parts: [part], graceMs: 120_000 });
  const response = await fetch(`${service.addresses.url}/v2/storage/ticks`, {
    headers: { 'X-StorageApi-Token': service.token },
  });
  const text = response.text();
  const begin = performance.now();
  await service.stop();
  expect(performance.now() - begin).toBeLessThan(50_000);
  expect(await text).toContain('id: 3\n');
});

test('who follows the changes is told of schedules that are paused, of alerts and of their messages', async () => {
  const service = await startService();
  try {
    const of = 'components/ex-generic-v2/configs';
    await service.call('POST', of, { configurationId: 'a', name: 'a', configuration: {} });
    await service.call('POST', `${of}/a/schedules`, { cron: '0 5 31 12 *' });
    const stream = await fetch(`${service.addresses.url}/v2/storage/changes`, {
      headers: { 'X-StorageApi-Token': service.token },
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let told = '';
    // A topic may come beside others: a look is as far from the next one as the machine makes it.
    const hear = async (event: RegExp): Promise<void> => {
      while (!event.test(told)) told += (await reader?.read())?.value ?? '';
      told = '';
    };
    // The first event says that it looks from here on.
    await hear(/"topics":\[\]/);
    await service.call('POST', 'schedules/pause', {});
    await hear(/"topics":\[[^\]]*"schedules"/);
    const alerts = /"topics":\[[^\]]*"alerts"/;
    const { body } = await service.call('POST', 'alerts', { name: 'ops', url: 'http://127.0.0.1:1/' });
    const { id } = body as { readonly id: string };
    await hear(alerts);
    await service.call('PUT', `alerts/${id}`, { mutedUntil: '2100-01-01T00:00:00Z' });
    await hear(alerts);
    await service.call('POST', `alerts/${id}/test`);
    await hear(alerts);
    await reader?.cancel();
  } finally {
    await service.stop();
  }
});
