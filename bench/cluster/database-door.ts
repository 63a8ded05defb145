import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** An address of the database that counts what passes, and may be farther away than the database is. */
export interface DatabaseDoor {
  readonly url: string;
  /** How often a process has sent something and waited for the answer, since the door was opened. */
  readonly roundTrips: number;
  /** Connections that are open. */
  readonly connections: number;
  /** Milliseconds that are added to each round trip. */
  latencyMs: number;
  stop(): Promise<void>;
}

/** @param url of a server without TLS, such as the one that {@link startDatabase} starts */
export async function openDatabaseDoor(url: string): Promise<DatabaseDoor> {
  const open = new Set<Socket>();
  let roundTrips = 0;
  const server = createServer((client) => {
    const { hostname, port } = new URL(url);
    const there = connect({ host: hostname, port: Number(port), noDelay: true });
    client.setNoDelay();
    for (const socket of [client, there]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => {
        open.delete(socket);
        client.destroy();
        there.destroy();
      });
    }
    let isAsking = false;
    client.on('data', (chunk) => {
      if (!isAsking) roundTrips++;
      isAsking = true;
      there.write(chunk);
    });
    there.on('data', (chunk) => {
      isAsking = false;
      // Timers of the same length end in the order of their starts, so that chunks keep theirs.
      if (door.latencyMs === 0) client.write(chunk);
      else setTimeout(() => client.writable && client.write(chunk), door.latencyMs);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port); // it listens on a port
  const door = {
    url: through.href,
    latencyMs: 0,
    get roundTrips() {
      return roundTrips;
    },
    get connections() {
      return open.size / 2;
    },
    async stop() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return door;
}
