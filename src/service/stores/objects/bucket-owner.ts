import { RunError } from '../../../lib/errors.ts';
import { ObjectError } from './errors.ts';

/** The storage that a bucket, or a part of it, belongs to. */
export interface BucketOwner {
  /** Id of the storage; random, and stored in its metadata. */
  readonly id: string;
  /** Its database or folder as people know it, without what is secret in it. */
  readonly name: string;
  /** The keys of its objects begin with its id. Those of a storage that is older than its id don't. */
  readonly isInKeys: boolean;
  /** It has no objects yet: nor must the bucket have any of another one that has left no marker. */
  readonly isNew: boolean;
  /** Its database, by what no copy of a dump has in common with it. Undefined for a folder, and where no server tells it. */
  readonly database?: string | undefined;
}

/** Operations of a store that the owner marker needs: keys are those after the prefix of the storage. */
interface MarkedStore {
  /** For people: the bucket, with the prefix. */
  readonly place: string;
  readText(key: string): Promise<string | undefined>;
  /** Leaves an object alone that is there already, where the store can tell. */
  writeNew(key: string, text: string): Promise<void>;
  write(key: string, text: string): Promise<void>;
  isEmpty(prefix: string): Promise<boolean>;
}

/** Says whose the objects beside it are. */
const MARKER = 'gex-storage.json';

interface Marker {
  /** Id of the storage. */
  readonly storage: string;
  /** Its database or folder. */
  readonly name: string;
  /** The database by its server; a marker of an earlier version has none. */
  readonly database?: string | undefined;
}

/** Prefixes of the keys of a storage that don't contain its id. */
const PLAIN_KEYS = ['exp-', '1/files/', 'recordings/'];

/**
 * Marks a bucket as that of a storage, unless it is marked already. May be called again.
 *
 * @throws {ObjectError} `AccessDenied` for the bucket of another storage, or of another database that this one was
 *   copied from or to, with the names of both
 */
export async function claimBucket(store: MarkedStore, owner: BucketOwner): Promise<void> {
  const known = await readMarker(store);
  if (known !== undefined && (known.database !== undefined || owner.database === undefined))
    return requireSame(store, owner, known);
  if (known !== undefined) {
    // One of an earlier version.
    requireStorage(store, owner, known);
    await store.write(MARKER, textOf(owner));
  } else {
    if (owner.isNew) await requireUnused(store, owner);
    await store.writeNew(MARKER, textOf(owner));
  }
  // Another storage may have been there at the same moment: the marker that is left says whose it is.
  const left = await readMarker(store);
  if (left === undefined)
    throw new ObjectError('ServiceUnavailable', `The object “${MARKER}” of ${store.place} does not stay.`);
  requireSame(store, owner, left);
}

/**
 * Looks whether a bucket is that of a storage, and writes nothing.
 *
 * @throws {ObjectError} `AccessDenied` for the bucket of another storage, and for one without an owner
 */
export async function requireOwner(store: MarkedStore, owner: BucketOwner): Promise<void> {
  const known = await readMarker(store);
  // To read does no harm, from a copy of the database either.
  if (known !== undefined) return requireStorage(store, owner, known);
  throw new ObjectError(
    'AccessDenied',
    `${capital(store.place)} has nothing of ${nameOf({ storage: owner.id, name: owner.name })}: the object “${MARKER}” is not there.`,
    { facts: { Reason: OTHER_OWNER } },
  );
}

/** Marks a bucket as that of a storage, whosever it was. @returns the name of the storage that it was taken from */
export async function takeBucketOver(store: MarkedStore, owner: BucketOwner): Promise<string | undefined> {
  const known = await readMarker(store);
  if (known?.storage === owner.id && known.database === owner.database) return undefined;
  await store.write(MARKER, textOf(owner));
  return known && nameOf(known);
}

/**
 * Marks the bucket of a storage as that of this database, in place of an earlier one.
 *
 * @returns the name of the database that it was taken from
 * @throws {ObjectError} `AccessDenied` for the bucket of another storage
 */
export async function takeBucketOverFromCopy(
  store: MarkedStore,
  owner: BucketOwner,
): Promise<string | undefined> {
  const known = await readMarker(store);
  if (known === undefined) {
    await claimBucket(store, owner);
    return undefined;
  }
  requireStorage(store, owner, known);
  return await takeBucketOver(store, owner);
}

async function readMarker(store: MarkedStore): Promise<Marker | undefined> {
  const text = await store.readText(MARKER);
  if (text === undefined) return undefined;
  const marker = parsed(text);
  if (marker !== undefined) return marker;
  throw new ObjectError(
    'AccessDenied',
    `The object “${MARKER}” of ${store.place} does not say which storage the bucket belongs to.`,
  );
}

function parsed(text: string): Marker | undefined {
  let marker: unknown;
  try {
    marker = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof marker !== 'object' || marker === null) return undefined;
  if (!('storage' in marker && 'name' in marker)) return undefined;
  const { storage, name } = marker;
  if (typeof storage !== 'string' || typeof name !== 'string') return undefined;
  const database =
    'database' in marker && typeof marker.database === 'string' ? { database: marker.database } : {};
  return { storage, name, ...database };
}

function requireSame(store: MarkedStore, owner: BucketOwner, known: Marker): void {
  requireStorage(store, owner, known);
  if (known.database === undefined || known.database === owner.database) return;
  const here = databaseName({ ...owner, storage: owner.id });
  throw new ObjectError(
    'AccessDenied',
    `${capital(store.place)} belongs to the storage ${known.storage} in the database ${databaseName(known)}, and this is a copy of that storage in another one: ${here}.`,
    { facts: { Reason: OTHER_DATABASE } },
  );
}

function requireStorage(store: MarkedStore, owner: BucketOwner, known: Marker): void {
  if (known.storage === owner.id) return;
  throw new ObjectError(
    'AccessDenied',
    `${capital(store.place)} belongs to ${nameOf(known)}, and this is ${nameOf({ storage: owner.id, name: owner.name })}.`,
    { facts: { Reason: OTHER_OWNER } },
  );
}

async function requireUnused(store: MarkedStore, owner: BucketOwner): Promise<void> {
  for (const prefix of PLAIN_KEYS)
    if (!(await store.isEmpty(prefix)))
      throw new ObjectError(
        'AccessDenied',
        `${capital(store.place)} has files of another storage, and ${nameOf({ storage: owner.id, name: owner.name })} is new.`,
        { facts: { Reason: OTHER_OWNER } },
      );
}

const OTHER_OWNER = 'OtherOwner';
const OTHER_DATABASE = 'OtherDatabase';

/** The refusal of a bucket of another storage as an error for people, with what to do; anything else as it is. */
export function ownerError(error: unknown, hint?: string | readonly string[]): unknown {
  if (!(error instanceof ObjectError)) return error;
  const usual = HINTS.get(error.facts['Reason']);
  if (usual === undefined) return error;
  return new RunError('database.otherFiles', error.message, { hint: hint ?? usual, cause: error });
}

const ALONE = [
  'Name a bucket for this storage alone, or let it share the bucket under a prefix of its own: --s3-prefix NAME/.',
  'When the other storage is gone, and a backup of it is to be restored: gex storage restore … --to-s3-take-over.',
];
const OF_ONE_DATABASE = [
  'Give a copy a bucket of its own: gex storage backup … of the other database, and gex storage restore … --to-s3-bucket NAME. Over this bucket it would delete the files of the other database.',
  'When the other database is gone for good, no service runs over it, and this one is to go on in its place: start once with --s3-take-over.',
];
const HINTS: ReadonlyMap<unknown, readonly string[]> = new Map([
  [OTHER_OWNER, ALONE],
  [OTHER_DATABASE, OF_ONE_DATABASE],
]);

const textOf = ({ id, name, database }: BucketOwner): string =>
  `${JSON.stringify({ storage: id, name, database } satisfies Marker)}\n`;
const databaseName = ({ name, database }: Marker): string =>
  `${name} (${database ?? 'its server does not tell which'})`;
const nameOf = ({ storage, name }: Marker): string => `the storage ${storage} of ${name}`;
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
