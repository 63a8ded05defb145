import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Balancer {
  readonly url: string;
  /** Addresses such as `127.0.0.1:8080` that connections are shared among; those that refuse are passed over. */
  targets: readonly string[];
  stop(): Promise<void>;
}

/** Hands each connection on to the next process that takes it, as a proxy in front of several would. */
export async function startBalancer(): Promise<Balancer> {
  let turn = 0;
  const open = new Set<Socket>();
  const balancer = { url: '', targets: [] as readonly string[], stop };
  const server = createServer((client) => {
    open.add(client);
    client.once('close', () => open.delete(client)).on('error', () => client.destroy());
    passOn(client, balancer.targets.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  balancer.url = `http://127.0.0.1:${port}`;
  return balancer;

  function passOn(client: Socket, tries: number): void {
    const target = balancer.targets[turn++ % balancer.targets.length];
    if (target === undefined || tries === 0) return void client.destroy();
    const [host = '', at = ''] = target.split(':');
    const there = connect({ host, port: Number(at) });
    let isThere = false;
    there.once('connect', () => {
      isThere = true;
      client.pipe(there).pipe(client);
    });
    there.once('error', () => (isThere ? client.destroy() : passOn(client, tries - 1)));
    there.once('close', () => isThere && client.destroy());
    client.once('close', () => there.destroy());
  }

  async function stop(): Promise<void> {
    for (const socket of open) socket.destroy();
    server.close();
    await once(server, 'close');
  }
}
