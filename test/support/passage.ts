import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** An address that passes all bytes on to a server, and its answers back. */
export interface Passage {
  readonly url: string;
  /** Connections that are open. */
  readonly connections: number;
  /** Ends all connections, without a word. */
  cut(): void;
  stop(): Promise<void>;
}

/** Handlers of the bytes of one connection, which go on with `pass`, at once or later. Default: all pass. */
export interface Between {
  readonly asked?: (chunk: Buffer, pass: () => void) => void;
  readonly answered?: (chunk: Buffer, pass: () => void) => void;
}

/**
 * @param url of a server without TLS
 * @param between is called for each connection
 */
export async function openPassage(url: string, between: () => Between = () => ({})): Promise<Passage> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  const server = createServer((client) => {
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
    const { asked = goOn, answered = goOn } = between();
    client.on('data', (chunk) => asked(chunk, () => there.write(chunk)));
    there.on('data', (chunk) => answered(chunk, () => client.writable && client.write(chunk)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port); // it listens on a port
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: through.href,
    get connections() {
      return open.size / 2;
    },
    cut,
    async stop() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

function goOn(_chunk: Buffer, pass: () => void): void {
  pass();
}
