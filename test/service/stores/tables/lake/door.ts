import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** An address of PostgreSQL behind which it goes away when it is told to, and is there again at once. */
export interface Door {
  readonly url: string;
  /** Requests until now. */
  readonly requests: number;
  /**
   * Cuts all connections at the n-th request from now on.
   *
   * @param when that request has not come to the database, or only its answer is lost
   * @returns whether it has come to that
   */
  cut(n: number, when: 'answered' | 'asked'): { readonly isCut: boolean };
  /** Loses the answer to the next COMMIT that the database makes. */
  loseCommit(): { readonly isCut: boolean };
  stop(): Promise<void>;
}

/** @param url of a server without TLS */
export async function openDoor(url: string): Promise<Door> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  let requests = 0;
  let plan = { left: 0, of: '', when: 'asked', isCut: false };
  const cutAll = (): void => {
    for (const socket of open) socket.destroy();
  };
  const server = createServer((client) => {
    const there = connect({ host: hostname, port: Number(port) });
    for (const socket of [client, there]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => {
        open.delete(socket);
        client.destroy();
        there.destroy();
      });
    }
    let isLost = false;
    client.on('data', (chunk) => {
      requests++;
      if (plan.left > 0 && chunk.includes(plan.of) && --plan.left === 0) {
        plan.isCut = true;
        if (plan.when === 'asked') return cutAll();
        isLost = true;
      }
      there.write(chunk);
    });
    there.on('data', (chunk) => {
      if (isLost) cutAll();
      else client.write(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port); // it listens on a port
  return {
    url: through.href,
    get requests() {
      return requests;
    },
    cut(n, when) {
      plan = { left: n, of: '', when, isCut: false };
      return plan;
    },
    loseCommit() {
      plan = { left: 1, of: 'COMMIT', when: 'answered', isCut: false };
      return plan;
    },
    async stop() {
      cutAll();
      server.close();
      await once(server, 'close');
    },
  };
}
