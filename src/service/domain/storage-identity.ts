import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { keysFrom, openServiceKeys, readKeyFile, type Keys } from '../../lib/encryption/index.ts';
import type { Env } from '../../lib/env.ts';
import { EncryptionError, RunError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { Database } from '../platform/database/database.ts';
import type { Meta } from '../stores/metadata/database.ts';
import type { BucketOwner } from '../stores/objects/bucket-owner.ts';
import { databaseOf } from '../stores/metadata/incarnation.ts';
import { withLocks, PROJECT } from '../stores/metadata/transaction.ts';
import { loadSecret } from '../stores/objects/secret.ts';

/**
 * The keys of `#` values: of a folder, or those of the environment, which all processes over one database must have.
 *
 * @throws {EncryptionError} `encryption.noKey`; `encryption.otherKey` when the other processes have another one
 */
export async function agreeOnKeys(
  meta: Meta,
  options: {
    readonly dir?: string;
    readonly environment?: Readonly<Record<string, string | undefined>>;
    readonly isWhollyInDatabase?: boolean;
  },
  env: Env,
  log: Log,
): Promise<Keys> {
  const environment = options.environment ?? process.env;
  if (options.dir !== undefined) return await keysOfFolder(meta, options.dir, environment, { env, log });
  const keys = requireSharedKeys(options);
  if (keys.length === 0) return [];
  const ids = keys.map(({ id }) => id);
  const known = await agree(meta, KEY, ids);
  if (known === undefined) return keys;
  throw new EncryptionError(
    'encryption.otherKey',
    `The values in the database were encrypted with the key ${known}, and this process has ${ids.join(', ')}.`,
    {
      hint: [
        'Give all processes the same GEX_ENCRYPTION_KEY. A new key stands in front of the old one, with a comma between.',
        "When the old one is lost for good: delete from gex.settings where name = 'encryption.key'; then set those values again.",
      ],
    },
  );
}

/**
 * Returns the keys that processes over a database are given. A start asks for them before it stores anything.
 *
 * @throws {EncryptionError} `encryption.noKey`
 */
export function requireSharedKeys({
  environment = process.env,
  isWhollyInDatabase,
}: {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly isWhollyInDatabase?: boolean;
}): Keys {
  const keys = keysFrom(environment);
  // Commands that push tables have nothing to encrypt.
  if (keys.length > 0 || isWhollyInDatabase === true) return keys;
  throw new EncryptionError(
    'encryption.noKey',
    'Several processes need one encryption key, and there is none.',
    {
      hint: [
        'Set GEX_ENCRYPTION_KEY for all of them; make one with: openssl rand -base64 32',
        'Or set GEX_ENCRYPTION_KEY_FILE to a file with it: gex encrypt --new-key FILE',
      ],
    },
  );
}

const KEY = 'encryption.key';

/** Id of the key that was agreed on, or that came along with what was migrated or restored; undefined when there is none. */
export async function encryptionKey(meta: Meta): Promise<string | undefined> {
  const row = await meta.selectFrom('settings').select('value').where('name', '=', KEY).executeTakeFirst();
  return row?.value;
}

/** Reads the keys of a folder. A new key over a folder that is in use means that the old one is lost. */
async function keysOfFolder(
  meta: Meta,
  dir: string,
  environment: Readonly<Record<string, string | undefined>>,
  { env, log }: { readonly env: Env; readonly log: Log },
): Promise<Keys> {
  await refuseOtherKey(meta, dir, environment);
  const { keys, isNew } = openServiceKeys(dir, environment, env);
  if (!isNew) return keys;
  const used = await meta.selectFrom('configurations').select('configuration_id').limit(1).executeTakeFirst();
  if (used !== undefined)
    log.warn(
      'A new encryption key was made, because there was none. Values encrypted with an earlier one can be read only ' +
        'when that key is back: put it into encryption.key or GEX_ENCRYPTION_KEY, or set those values again.',
    );
  return keys;
}

/** Refuses another key than that of restored or migrated values; a new key would hide that the old one is missing. */
async function refuseOtherKey(
  meta: Meta,
  dir: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const known = await encryptionKey(meta);
  if (known === undefined) return;
  const file = join(dir, KEY);
  const ids = [...keysFrom(environment), ...(existsSync(file) ? readKeyFile(file) : [])].map(({ id }) => id);
  if (ids.includes(known)) return;
  throw new EncryptionError(
    'encryption.otherKey',
    `The values of this storage were encrypted with the key ${known}, and ${ids.length === 0 ? 'there is no key' : `this process has ${ids.join(', ')}`}.`,
    {
      where: { file },
      hint: [
        'Set GEX_ENCRYPTION_KEY to that key, or put it into the file. A new key stands in front of the old one, with a comma between.',
        `When the old one is lost for good: sqlite3 ${join(dir, 'meta.sqlite')} "delete from settings where name = '${KEY}'"; then set those values again.`,
      ],
    },
  );
}

/**
 * Ensures that the files which the database knows are in the store of this process: in a folder, in a bucket, or in the
 * database itself, which commands without either use.
 *
 * @throws {RunError} `database.otherFiles`
 */
export async function agreeOnFiles(
  meta: Meta,
  options: {
    readonly dir?: string;
    readonly objects?: { readonly bucket: string; readonly prefix?: string | undefined };
  },
  env: Env,
): Promise<void> {
  const { dir, objects } = options;
  const below = objects?.prefix === undefined ? '' : `/${objects.prefix}`;
  const place =
    objects === undefined
      ? dir === undefined
        ? IN_DATABASE
        : `folder ${await nameOf(dir, env)}`
      : `bucket ${objects.bucket}${below}`;
  const known = await agree(meta, FILES, [place]);
  if (known === undefined || (known === IN_DATABASE && objects === undefined)) return;
  if (place === IN_DATABASE)
    throw new RunError(
      'database.otherFiles',
      `A service keeps the files of this database in the ${known}, which this command does not reach.`,
      {
        hint: known.startsWith('bucket')
          ? 'Set GEX_S3, GEX_S3_BUCKET and so on as for that service, or give its address with KBC_TOKEN.'
          : 'Give the address of that service, with a token of it in KBC_TOKEN; or another schema: ?schema=NAME behind the address of the database.',
      },
    );
  throw new RunError(
    'database.otherFiles',
    `The files that this database knows are in the ${known}, and this process has the ${place}.`,
    {
      hint: [
        'Give all processes the same --s3, --s3-bucket and --s3-prefix, or the one process its folder.',
        "When the files were moved: delete from gex.settings where name = 'files'.",
      ],
    },
  );
}

const FILES = 'files';
const IN_DATABASE = 'database';

/** Tells whether the bytes of files are in the database of the metadata. */
export async function hasFilesInDatabase(meta: Meta): Promise<boolean> {
  const row = await meta.selectFrom('settings').select('value').where('name', '=', FILES).executeTakeFirst();
  return row?.value === IN_DATABASE;
}

/**
 * Returns the secret of a storage that has no folder: whoever may read its schema may use it. Credentials for files and
 * the token of commands come from it.
 */
export async function databaseSecret(meta: Meta, env: Pick<Env, 'randomBytes'>): Promise<Uint8Array> {
  return await withLocks(meta, [PROJECT], async (tx) => {
    const stored = tx.selectFrom('settings').select('value').where('name', '=', SECRET);
    const known = await stored.executeTakeFirst();
    if (known !== undefined) return Buffer.from(known.value, 'hex');
    const secret = Buffer.from(env.randomBytes(32));
    await tx
      .insertInto('settings')
      .values({ name: SECRET, value: secret.toString('hex') })
      .execute();
    return secret;
  });
}

const SECRET = 'objects.secret';

/**
 * Returns the owner of the objects of this metadata in a bucket: a storage gets its id before it has any data.
 *
 * @param name the database or the folder, in messages
 */
export async function ownerOf(meta: Meta, name: string, env: Pick<Env, 'randomBytes'>): Promise<BucketOwner> {
  const database = await databaseOf(meta);
  return await withLocks(meta, [PROJECT], async (tx) => {
    const known = await storedOwner(tx, name);
    if (known !== undefined) return { ...known, database };
    const id = Buffer.from(env.randomBytes(8)).toString('hex');
    // One that is older than its id has objects under keys without it.
    const isInKeys = !(await hasAny(tx, 'projects'));
    const value = JSON.stringify({ id, isInKeys } satisfies StoredOwner);
    await tx.insertInto('settings').values({ name: STORAGE, value }).execute();
    return { id, isInKeys, name, isNew: isInKeys, database };
  });
}

/** Returns the owner as far as it is stored: undefined for a storage that no service of this version has run over. */
export async function storedOwner(meta: Meta, name: string): Promise<BucketOwner | undefined> {
  const row = await meta
    .selectFrom('settings')
    .select('value')
    .where('name', '=', STORAGE)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const isNew = !(await hasAny(meta, 'files')) && !(await hasAny(meta, 'runs'));
  return { ...(JSON.parse(row.value) as StoredOwner), name, isNew }; // written above
}

/** Returns the name of a database or a folder for people. */
export function placeName(place: Pick<Database, 'address' | 'schema'> | string): string {
  return typeof place === 'string'
    ? `the folder ${place} of ${hostname()}`
    : `${place.address}, schema ${place.schema}`;
}

interface StoredOwner {
  readonly id: string;
  readonly isInKeys: boolean;
}

const STORAGE = 'storage';

async function hasAny(meta: Meta, table: 'files' | 'projects' | 'runs'): Promise<boolean> {
  return (await meta.selectFrom(table).select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Returns the name of a folder, which is the same wherever it lies and reveals nothing of its secret. */
async function nameOf(dir: string, env: Env): Promise<string> {
  const secret = await loadSecret(join(dir, 'objects.secret'), env);
  return createHash('sha256').update('folder').update(secret).digest('hex').slice(0, 12);
}

/**
 * Stores the first offered value of the first process, and replaces it by that of a later process, when that one
 * offers the stored value as well.
 *
 * @returns the stored value, when none of the offered ones is that
 */
async function agree(meta: Meta, name: string, offered: readonly string[]): Promise<string | undefined> {
  const [value = ''] = offered;
  return await withLocks(meta, [PROJECT], async (tx) => {
    const known = await tx.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst();
    if (known === undefined) await tx.insertInto('settings').values({ name, value }).execute();
    else if (!offered.includes(known.value)) return known.value;
    else if (known.value !== value)
      await tx.updateTable('settings').set({ value }).where('name', '=', name).execute();
    return undefined;
  });
}
