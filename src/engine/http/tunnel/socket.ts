import { Duplex } from 'node:stream';

/**
 * A socket that is there at once and becomes connected later, as sockets do: what is written waits until the way
 * through the proxy is open. An HTTP agent that is given its socket in a callback loses sight of it (it ignores
 * `maxSockets` and hangs on timeouts), so it is given this one.
 */
export class TunnelSocket extends Duplex {
  connecting = true;
  #inner: Duplex | undefined;
  #waiting: (() => void) | undefined;

  constructor(open: () => Promise<Duplex>) {
    super({ allowHalfOpen: true, emitClose: true });
    open().then(
      (inner) => this.#connected(inner),
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  }

  #connected(inner: Duplex): void {
    if (this.destroyed) {
      inner.destroy();
      return;
    }
    this.#inner = inner;
    inner.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) inner.pause();
    });
    let ended = false;
    inner.once('end', () => {
      ended = true;
      this.push(null);
    });
    inner.once('error', (error) => this.destroy(error));
    inner.once('close', () => {
      // What has arrived in good order is read to its end first.
      if (ended && !this.readableEnded) this.once('end', () => this.destroy());
      else this.destroy();
    });
    this.connecting = false;
    this.emit('connect');
    this.#waiting?.();
  }

  override _read(): void {
    this.#inner?.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#whenOpen((inner) => inner.write(chunk, encoding, done));
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#whenOpen((inner) => inner.end(done));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#inner?.destroy();
    done(error);
  }

  #whenOpen(act: (inner: Duplex) => void): void {
    const inner = this.#inner;
    if (inner !== undefined) act(inner);
    else this.#waiting = () => this.#inner !== undefined && act(this.#inner);
  }

  // What agents and clients ask of a socket. Timeouts are watched from outside (`bottom.ts`).
  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  address(): Record<string, never> {
    return {};
  }
}
