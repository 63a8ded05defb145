import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Stands before an object store, and lets each connection bring only so many bytes a second (0: as many as it likes). */
export async function startSlowStore(
  endpoint: string,
  bytesPerSecond: number,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const target = new URL(endpoint);
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
    near.pipe(far);
    if (bytesPerSecond === 0) far.pipe(near);
    else void bring(far, near, bytesPerSecond).catch(() => near.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

const TICK_MS = 20;

async function bring(from: Socket, to: Socket, bytesPerSecond: number): Promise<void> {
  const most = Math.ceil((bytesPerSecond * TICK_MS) / 1000);
  for await (const chunk of from as AsyncIterable<Buffer>)
    // without an encoding
    for (let at = 0; at < chunk.length; at += most) {
      const part = chunk.subarray(at, at + most);
      to.write(part);
      // Answers without a body are not held up.
      await sleep((part.length / bytesPerSecond) * 1000);
    }
  to.end();
}
