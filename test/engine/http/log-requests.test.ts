import { expect, test } from 'vitest';
import { CURL, failure } from '../../../src/engine/http/send/network-error.ts';
import { logRequests } from '../../../src/engine/http/log-requests.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { fakeEnv, get, never, recordingLog, scripted } from './support.ts';

test('requests and answers are logged in short, without secrets', async () => {
  const log = recordingLog();
  const env = fakeEnv();
  const secrets = new Secrets();
  secrets.add('known-secret');
  const send = scripted({ status: 200, body: '{"a":1}' }, failure(CURL.dns, 'no known-secret here'));
  const wrapped = logRequests({ log, env, secrets })(async (request, options) => {
    await env.sleep(25);
    return send(request, options);
  });
  const request = get('http://h/x?api_key=12345', { Authorization: 'Bearer abc', Accept: 'known-secret' });
  await wrapped(request, { signal: never });
  await expect(wrapped(request, { signal: never })).rejects.toThrow('no known-secret here');
  const line = 'GET http://h/x?api_key=***';
  const sent = {
    level: 'debug',
    message: line,
    fields: { headers: { Authorization: '***', Accept: '***' } },
  };
  expect(log.lines).toEqual([
    sent,
    { level: 'debug', message: `200 ${line}`, fields: { ms: 25, bytes: 7 } },
    sent,
    { level: 'debug', message: `Failed ${line}`, fields: { ms: 25, reason: 'no *** here' } },
  ]);
});
