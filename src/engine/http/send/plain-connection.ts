import type { Agent, ClientRequest } from 'node:http';
import { Duplex } from 'node:stream';
import { PlainHeads, type PlainHead } from './plain-message.ts';

/** So many answers of the plain form in a row, and connections of an origin are taken over. */
const IN_A_ROW = 10;

/** A longer answer is left to the runtime's client: what is saved on it is little. */
const MAX_BYTES = 65_536;

/** Outcome of a request on a {@link PlainConnection}. */
export type PlainOutcome =
  | { readonly head: PlainHead; readonly body: Uint8Array }
  /** An answer of another form, from its first byte on: the runtime's client reads it. What is written is dropped. */
  | { readonly stream: Duplex }
  /** The connection was closed before anything came; without an error, in good order. */
  | { readonly error: Error | undefined };

/**
 * A kept connection, taken over from the runtime's client to spare what that does for each request, which for small
 * answers is as much as everything else. It reads answers of the plain form alone, and hands on all others untouched.
 */
export class PlainConnection {
  readonly #socket: Duplex;
  readonly #pool: PlainPool;
  #asked: { accepts: (head: PlainHead) => boolean; end: (outcome: PlainOutcome) => void } | undefined;
  #bytes: Buffer | undefined;
  #head: PlainHead | undefined;
  readonly #heads = new PlainHeads();

  constructor(socket: Duplex, pool: PlainPool) {
    this.#socket = socket;
    this.#pool = pool;
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('error', this.#onError);
    socket.on('close', this.#onClose);
  }

  /**
   * Sends a request of the plain form.
   *
   * @param accepts decides by its head that an answer is taken here
   */
  send(text: string, accepts: (head: PlainHead) => boolean, end: (outcome: PlainOutcome) => void): void {
    this.#asked = { accepts, end };
    this.#socket.write(text, 'latin1');
  }

  destroy(): void {
    this.#asked = undefined;
    this.#socket.destroy();
  }

  readonly #onData = (chunk: Buffer): void => {
    const asked = this.#asked;
    // nobody asked for it
    if (asked === undefined) return void this.#socket.destroy();
    const bytes = this.#bytes === undefined ? chunk : Buffer.concat([this.#bytes, chunk]);
    this.#bytes = bytes;
    if (this.#head === undefined) {
      const head = this.#heads.read(bytes);
      if (head === undefined || head.to > MAX_BYTES || !asked.accepts(head)) return void this.#handOn();
      this.#head = head;
    }
    const head = this.#head;
    if (bytes.length < head.to) return;
    if (bytes.length > head.to) return void this.#handOn();
    this.#asked = this.#bytes = this.#head = undefined;
    if (head.isKept) this.#pool.give(this);
    else this.#socket.destroy();
    asked.end({ head, body: bytes.subarray(head.from) });
  };

  readonly #onEnd = (): void => {
    if (this.#bytes === undefined) this.#lose(undefined);
    else this.#handOn()?.push(null);
  };

  readonly #onError = (error: Error): void => {
    if (this.#bytes === undefined) this.#lose(error);
    else {
      const stream = this.#handOn();
      // once what came before it is read
      setImmediate(() => stream?.destroy(error));
    }
  };

  readonly #onClose = (): void => {
    this.#lose(undefined);
  };

  #lose(error: Error | undefined): void {
    const asked = this.#asked;
    this.#asked = undefined;
    this.#pool.drop(this);
    this.#socket.destroy();
    asked?.end({ error });
  }

  /** Ends to read answers here. */
  #handOn(): Duplex | undefined {
    const [socket, asked, bytes] = [this.#socket, this.#asked, this.#bytes];
    this.#asked = this.#bytes = undefined;
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('error', this.#onError);
    socket.off('close', this.#onClose);
    this.#pool.leave(this);
    const stream = followed(socket, bytes);
    asked?.end({ stream });
    return stream;
  }
}

/** Returns a stream that reads on after some bytes, and drops what is written. Its end closes the connection. */
function followed(socket: Duplex, bytes: Buffer | undefined): Duplex {
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (_chunk, _encoding, done) => done(),
    final: (done) => {
      socket.destroy();
      done();
    },
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  stream.push(bytes);
  socket.on('data', (chunk) => {
    if (!stream.push(chunk)) socket.pause();
  });
  socket.on('end', () => stream.push(null));
  socket.on('error', (error) => stream.destroy(error));
  socket.on('close', () => {
    if (!socket.readableEnded) stream.destroy();
  });
  return stream;
}

/** The plain connections to one origin by one route. */
export class PlainPool {
  readonly #agent: Agent;
  readonly #name: string;
  readonly #open = new Set<PlainConnection>();
  readonly #idle: PlainConnection[] = [];
  #inARow = 0;
  #isLeft = false;
  #last: ClientRequest | undefined;

  /** @param name that the agent keeps its connections by */
  constructor(agent: Agent, name: string) {
    this.#agent = agent;
    this.#name = name;
  }

  /** Returns an idle connection, also one of the runtime's client, when the origin answers in the plain form. */
  take(): PlainConnection | undefined {
    if (this.#isLeft || this.#inARow < IN_A_ROW) return undefined;
    return this.#idle.pop() ?? this.#takeOver();
  }

  /** Takes note of an answer that the runtime's client read. */
  note(req: ClientRequest, isPlain: boolean): void {
    this.#last = req;
    this.#inARow = isPlain ? this.#inARow + 1 : 0;
  }

  give(connection: PlainConnection): void {
    if (this.#isLeft) connection.destroy();
    else this.#idle.push(connection);
  }

  drop(connection: PlainConnection): void {
    this.#open.delete(connection);
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** Leaves the origin to the runtime's client for good: each answer of another form costs a connection. */
  leave(connection: PlainConnection): void {
    this.drop(connection);
    this.#isLeft = true;
    for (const idle of this.#idle) idle.destroy();
  }

  destroy(): void {
    for (const connection of this.#open) connection.destroy();
  }

  #takeOver(): PlainConnection | undefined {
    const socket = this.#agent.freeSockets[this.#name]?.pop();
    if (socket === undefined || this.#last === undefined || socket.destroyed) return undefined;
    this.#agent.reuseSocket(socket, this.#last);
    // the timer of a request keeps the process alive
    socket.unref();
    const connection = new PlainConnection(socket, this);
    this.#open.add(connection);
    return connection;
  }
}
