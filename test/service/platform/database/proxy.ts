import { connect, createServer, type Socket } from 'node:net';

/** Stands between a service and its database, and can be cut. */
export interface Proxy {
  readonly url: string;
  /** Ends all connections, and refuses new ones. */
  cut(): Promise<void>;
  /** Lets connections through again, at the same address. */
  mend(): Promise<void>;
  /** Ends all connections; new ones go to another server. */
  leadTo(url: string): void;
  /**
   * Lets the commit of the next transaction through that says something, and cuts its connection in place of the answer.
   *
   * @returns whether that has happened
   */
  loseCommitOf(said: string): () => boolean;
}

export async function proxyTo(url: string): Promise<Proxy> {
  let target = new URL(url);
  const open = new Set<Socket>();
  let lost: { readonly said: string; isDone: boolean } | undefined;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
    let isSaid = false;
    near.on('data', (sent) => {
      if (lost === undefined || lost.isDone) return;
      isSaid ||= sent.includes(lost.said);
      if (!isSaid || !sent.includes('commit')) return;
      far.unpipe(near);
      far.once('data', () => near.destroy()).resume();
      lost.isDone = true;
    });
  });
  const listen = async (port: number): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const address = server.address();
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  };
  const port = await listen(0);
  const near = new URL(url);
  near.hostname = '127.0.0.1';
  near.port = String(port);
  return {
    url: near.href,
    async cut() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of open) socket.destroy();
      await closed;
    },
    mend: async () => void (await listen(port)),
    leadTo(other) {
      target = new URL(other);
      for (const socket of open) socket.destroy();
    },
    loseCommitOf(said) {
      const watched = { said, isDone: false };
      lost = watched;
      return () => watched.isDone;
    },
  };
}
