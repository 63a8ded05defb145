import { createService } from '../../../../src/service/start/service.ts';
import { runHere, type Ended } from '../../../cli/support.ts';
import { request, type Running } from '../../harness.ts';
import { startEmbedded, type Embedded } from '../../stores/objects/support.ts';
import { makeDatabase, type TestDatabase } from '../../stores/tables/postgres/database.ts';

/** A database with an object store, empty or filled. */
export interface Place {
  readonly database: TestDatabase;
  readonly store: Embedded;
}

export interface Places {
  make(): Promise<Place>;
  /** Both parts of a place as options of the command; all of a store have the same keys: {@link Places.keys}. */
  readonly named: (end: 'from' | 'to', place: Place) => string[];
  readonly keys: () => Readonly<Record<'GEX_S3_ACCESS_KEY' | 'GEX_S3_SECRET_KEY', string>>;
  readonly gex: (...args: string[]) => Promise<Ended>;
  /**
   * A service over a place.
   *
   * @param key that of `#` values
   * @param token one that is known from where the place was copied; that of the first start unless told
   */
  serve(
    place: Place,
    key: string,
    token?: string,
    options?: { readonly concurrency?: number; readonly poolSize?: number },
  ): Promise<Running>;
  drop(): Promise<void>;
}

export function createPlaces(): Places {
  const places: Place[] = [];
  const keys = (): { GEX_S3_ACCESS_KEY: string; GEX_S3_SECRET_KEY: string } => {
    const { accessKeyId = '', secretAccessKey = '' } = places[0]?.store.store.keys.service ?? {};
    return { GEX_S3_ACCESS_KEY: accessKeyId, GEX_S3_SECRET_KEY: secretAccessKey };
  };
  return {
    keys,
    async make() {
      const place = { database: await makeDatabase(), store: await startEmbedded({ bucket: 'shelf' }) };
      places.push(place);
      return place;
    },
    named: (end, { database, store }) => [
      `--${end}`,
      database.url,
      `--${end}-s3`,
      store.endpoint,
      `--${end}-s3-bucket`,
      'shelf',
    ],
    gex: async (...args) => await runHere(['storage', ...args], { env: keys() }),
    async serve({ database, store }, key, known, { poolSize = 5, ...options } = {}) {
      const { accessKeyId, secretAccessKey } = store.store.keys.service;
      const service = createService({
        ...options,
        database: { url: database.url, poolSize },
        objects: {
          endpoint: store.endpoint,
          bucket: 'shelf',
          region: 'us-east-1',
          credentials: { accessKeyId, secretAccessKey },
        },
        environment: { ...process.env, GEX_ENCRYPTION_KEY: key },
      });
      const addresses = await service.start();
      const token = known ?? addresses.masterToken ?? '';
      return {
        service,
        addresses,
        dir: '',
        token,
        call: async (method, path, body, headers) =>
          await request(addresses.url, token, method, path, body, headers),
        stop: async () => await service.stop(),
      };
    },
    async drop() {
      for (const { database, store } of places) {
        await store.close();
        await database.drop();
      }
    },
  };
}
