import { expect, test } from 'vitest';
import { startService } from '../service/harness.ts';
import { gexHere as gex } from './support.ts';

test('gex ui leads to the service that runs over the folder, by a link that signs in once', async () => {
  const service = await startService();
  try {
    const { code, stdout } = await gex('ui', '--dir', service.dir, '--no-open');
    expect(code).toBe(0);
    const { url } = service.addresses;
    expect(stdout.trim()).toMatch(new RegExp(`^${url}/#code=[\\w-]{40}$`));
    const signIn = async (): Promise<Response> =>
      await fetch(`${url}/console/session`, {
        method: 'POST',
        headers: { 'x-console': '1', 'content-type': 'application/json' },
        body: JSON.stringify({ code: stdout.trim().split('#code=')[1] }),
      });
    expect((await signIn()).status).toBe(201);
    expect((await signIn()).status).toBe(401);
  } finally {
    await service.stop();
  }
});

test('gex ui --storage needs a token', async () => {
  const { code, stderr } = await gex('ui', '--storage', 'http://127.0.0.1:9', '--no-open');
  expect(code).toBe(1);
  expect(stderr).toContain('KBC_TOKEN');
});
