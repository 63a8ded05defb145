import { afterAll, beforeAll, describe } from 'vitest';
import { createTransport } from '../../../../src/engine/http/send/transport.ts';
import { targetOf } from '../../../../src/engine/http/send/target.ts';
import { createSshTunnel } from '../../../../src/engine/http/tunnel/ssh-tunnel.ts';
import { fakeEnv, recordingLog } from '../support.ts';
import { openSsh, startForwardingProxy } from '../tunnel/support.ts';
import { sendContract } from './send.contract.ts';
import { createTakenOver } from './taken-over.ts';

sendContract('direct', async (options) => createTransport(options), { isDirect: true });

sendContract('on a connection taken over', async (options) => createTakenOver(options));

describe('by way of others', { tags: 'thorough' }, () => {
  sendContract('through an HTTP proxy', async (options) => {
    const proxy = targetOf(await startForwardingProxy());
    return createTransport({ ...options, proxyFor: () => proxy });
  });

  let server: Awaited<ReturnType<typeof openSsh>>;
  let tunnel: ReturnType<typeof createSshTunnel>;
  beforeAll(async () => {
    server = await openSsh();
    tunnel = createSshTunnel(server.proxy, fakeEnv(), recordingLog());
  });
  afterAll(async () => {
    await tunnel.close();
    await server.close();
  });

  sendContract(
    'in an SSH tunnel',
    async (options) => createTransport({ ...options, connect: (host, port) => tunnel.connect(host, port) }),
    // SSH tells of the end of a connection, and not of its reset.
    { resetCurl: 52 },
  );
});
