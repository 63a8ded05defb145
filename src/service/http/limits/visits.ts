/** Request while it is answered, with the resources it takes of the process. */
export interface Visit {
  /**
   * Sets the client, once it is known; only the first call counts. @throws the refusal when that client has its share
   * already
   */
  belongsTo(client: Client): void;
  /** Adds bytes of its body that are in memory. @throws the refusal when that is too much of all, or of its client */
  hold(bytes: number): void;
  /** Does work for the request: until that is done, it holds its resources, also when its client has gone. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Releases it: its client was answered, or has gone. May be called again. */
  leave(): void;
}

export interface Client {
  /** Clients without a token have less, each of them and together. */
  readonly kind: 'address' | 'token';
  readonly id: number | string;
}

export interface Room {
  readonly requests: number;
  /** Bytes of bodies in memory. */
  readonly bytes: number;
}

/** Largest body that always gets memory: nearly all bodies are so small, and their number is limited. */
const SMALL_BYTES = 64 * 1024;

/** Makes the places and the memory of one process, of which no client gets all. */
export function createVisits(
  room: Room,
  refuse: (why: string) => never,
): { readonly inProgress: number; enter(): Visit } {
  const share = {
    // A single token may well be the only one that there is.
    token: Math.ceil((room.requests * 3) / 4),
    address: Math.ceil(room.requests / 4),
    addresses: Math.ceil(room.requests / 2),
    bytes: room.bytes / 2,
  };
  const places = new Map<string, number>();
  const bytesOf = new Map<string, number>();
  let inProgress = 0;
  let held = 0;

  function take(keys: readonly (readonly [key: string, most: number, whose: string])[]): void {
    for (const [key, most, whose] of keys)
      if ((places.get(key) ?? 0) >= most)
        refuse(`The service is answering ${most} requests ${whose} already. Ask again in a moment.`);
    for (const [key] of keys) add(places, key, 1);
  }

  return {
    get inProgress() {
      return inProgress;
    },
    enter() {
      if (inProgress >= room.requests)
        refuse(`The service is answering ${room.requests} requests already. Ask again in a moment.`);
      inProgress += 1;
      let taken: readonly string[] = [];
      let own = 0;
      let atWork = 0;
      let hasLeft = false;
      let isOver = false;
      const end = (): void => {
        if (isOver || !hasLeft || atWork > 0) return;
        isOver = true;
        inProgress -= 1;
        held -= own;
        for (const key of taken) add(places, key, -1);
        if (own > 0) add(bytesOf, taken[0] ?? '', -own);
      };
      return {
        belongsTo({ kind, id }) {
          if (taken.length > 0 || isOver) return;
          const key = `${kind} ${id}`;
          const isOpen = kind === 'address';
          take(
            isOpen
              ? [
                  [key, share.address, 'from this address without a token'],
                  ['addresses', share.addresses, 'without a token'],
                ]
              : [[key, share.token, 'with this token']],
          );
          taken = isOpen ? [key, 'addresses'] : [key];
        },
        hold(bytes) {
          if (isOver) return;
          const [client = ''] = taken;
          const ofClient = (bytesOf.get(client) ?? 0) + bytes;
          if (own + bytes > SMALL_BYTES && (held + bytes > room.bytes || ofClient > share.bytes))
            refuse('The service holds as much of large bodies as it has memory for. Ask again in a moment.');
          own += bytes;
          held += bytes;
          add(bytesOf, client, bytes);
        },
        async during(work) {
          atWork += 1;
          try {
            return await work();
          } finally {
            atWork -= 1;
            end();
          }
        },
        leave() {
          hasLeft = true;
          end();
        },
      };
    },
  };
}

/** Adds to a count; a count of 0 is removed. */
function add(counts: Map<string, number>, key: string, count: number): void {
  const sum = (counts.get(key) ?? 0) + count;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
