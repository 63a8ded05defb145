import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { configOf, dataFolder, gex, json, startApi } from './support.ts';

interface Message {
  readonly event: string;
  readonly severity: string;
  readonly isReminder: boolean;
  readonly text: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly sources: readonly { readonly folder: string; readonly since: string }[];
}

/** A receiver of messages; it answers nothing while it hangs. */
async function receiver({ hangs = false } = {}) {
  const got: { readonly body: Message; readonly text: string; readonly signature: unknown }[] = [];
  const server: Server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      got.push({
        body: JSON.parse(text) as Message,
        text,
        signature: request.headers['x-gex-signature'],
      });
      if (!hangs) response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

test('--notify tells of a run that failed, again while it is so, and once when it is well', async () => {
  const state = { status: 200 };
  const api = await startApi((_, response) =>
    json(response, state.status === 200 ? [{ id: 1 }] : { error: 'token s3cret-token' }, state.status),
  );
  const authentication = { type: 'bearer', '#token': 's3cret-token' };
  const folder = dataFolder(configOf(api, [{ endpoint: 'books' }], { api: { authentication } }));
  const { got, url } = await receiver();
  const run = async (...more: readonly string[]) =>
    await gex('run', '--storage', 'none', '--data', folder, '--notify', url, ...more);
  expect((await run()).code).toBe(0);
  expect(got).toEqual([]);
  state.status = 404;
  const failed = await run();
  expect(failed.code).not.toBe(0);
  expect((await run('--limit', '1')).code).not.toBe(0); // a trial
  expect(got).toHaveLength(1);
  await run();
  state.status = 200;
  expect((await run()).code).toBe(0);
  await run();
  expect(got.map(({ body: { event, severity, isReminder } }) => [event, severity, isReminder])).toEqual([
    ['failed', 'error', false],
    ['failed', 'error', true],
    ['recovered', 'error', false],
  ]);
  const [first, second] = got;
  expect(first?.body.error).toMatchObject({ code: 'http.status' });
  expect(first?.text).not.toContain('s3cret-token');
  expect(first?.signature).toBeUndefined();
  expect(first?.body.sources).toMatchObject([{ folder }]);
  expect(second?.body.sources[0]?.since).toBe(first?.body.sources[0]?.since);
});

test('a message is signed with the secret, and a receiver that is not there changes nothing of the run', async () => {
  const api = await startApi((_, response) => json(response, { error: 'no' }, 404));
  const folder = dataFolder(configOf(api, [{ endpoint: 'books' }]));
  const { got, url } = await receiver();
  const args = ['run', '--storage', 'none', '--data', folder, '--notify'];
  const plain = await gex('run', '--storage', 'none', '--data', folder);
  process.env['GEX_NOTIFY_SECRET'] = 'key of messages';
  onTestFinished(() => void delete process.env['GEX_NOTIFY_SECRET']);
  const signed = await gex(...args, url);
  expect(signed.code).toBe(plain.code);
  expect(got[0]?.signature).toBe(
    `sha256=${createHmac('sha256', 'key of messages')
      .update(got[0]?.text ?? '')
      .digest('hex')}`,
  );
  const gone = await gex(...args, 'http://127.0.0.1:9/hook');
  expect(gone.code).toBe(plain.code);
  expect(gone.stderr).toContain('The message of --notify could not be sent');
  expect(gone.stderr).not.toContain('key of messages');
  const silent = await receiver({ hangs: true });
  const hanging = await gex(...args, silent.url);
  expect(hanging.code).toBe(plain.code);
  expect(hanging.stderr).toContain('could not be sent');
  expect((await gex(...args, 'mailto:a@example.com')).stderr).toContain('--notify is an address');
});
