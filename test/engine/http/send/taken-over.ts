import { connect, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import {
  createTransport,
  type Transport,
  type TransportOptions,
} from '../../../../src/engine/http/send/transport.ts';
import { targetOf } from '../../../../src/engine/http/send/target.ts';
import { get, never } from '../support.ts';

const WARM_UP = '/warm-up';

/** Creates a transport whose first request to an origin goes out on a connection that was taken over. */
export function createTakenOver(options: Partial<TransportOptions>): Transport {
  const transport = createTransport({ ...options, connect: async (host, port) => warmable(host, port) });
  const warm = new Map<string, Promise<void>>();
  const warmUp = async (origin: string): Promise<void> => {
    if (origin.startsWith('https:')) return;
    for (let i = 0; i < 10; i++) await transport.send(get(origin + WARM_UP), { signal: never });
  };
  return {
    async send(request, sendOptions) {
      const { origin } = targetOf(request.url);
      if (!warm.has(origin)) warm.set(origin, warmUp(origin));
      await warm.get(origin);
      return await transport.send(request, sendOptions);
    },
    close: async () => transport.close(),
  };
}

/** A connection that answers by itself until it is asked for anything else than {@link WARM_UP}, and only then is one. */
function warmable(host: string, port: number): Duplex {
  let socket: Socket | undefined;
  const open = (): Socket => {
    const opened = connect({ host, port, noDelay: true });
    opened.on('data', (chunk) => {
      if (!stream.push(chunk)) opened.pause();
    });
    opened.on('end', () => stream.push(null));
    opened.on('error', (error) => stream.destroy(error));
    return opened;
  };
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => void socket?.resume(),
    write(chunk: Buffer, _encoding, done) {
      if (socket === undefined && chunk.toString().startsWith(`GET ${WARM_UP} `)) {
        stream.push('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        return done();
      }
      socket ??= open();
      socket.write(chunk, done);
    },
    final(done) {
      if (socket === undefined) done();
      else socket.end(done);
    },
    destroy(error, done) {
      socket?.destroy();
      done(error);
    },
  });
  return stream;
}
