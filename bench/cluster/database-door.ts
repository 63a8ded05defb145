import { openPassage, type Passage } from '../../test/support/passage.ts';

/** An address of the database that counts what passes, and may be farther away than the database is. */
export interface DatabaseDoor extends Pick<Passage, 'connections' | 'stop' | 'url'> {
  /** How often a process has sent something and waited for the answer, since the door was opened. */
  readonly roundTrips: number;
  /** Milliseconds that are added to each round trip. */
  latencyMs: number;
}

/** @param url of a server without TLS, such as the one that {@link startDatabase} starts */
export async function openDatabaseDoor(url: string): Promise<DatabaseDoor> {
  let roundTrips = 0;
  const passage = await openPassage(url, () => {
    let isAsking = false;
    return {
      asked(_chunk, pass) {
        if (!isAsking) roundTrips++;
        isAsking = true;
        pass();
      },
      answered(_chunk, pass) {
        isAsking = false;
        // Timers of the same length end in the order of their starts, so that chunks keep theirs.
        if (door.latencyMs === 0) pass();
        else setTimeout(pass, door.latencyMs);
      },
    };
  });
  const door = {
    url: passage.url,
    latencyMs: 0,
    get roundTrips() {
      return roundTrips;
    },
    get connections() {
      return passage.connections;
    },
    stop: () => passage.stop(),
  };
  return door;
}
