import { isoTime } from '../../../lib/iso-time.ts';
import {
  encodeExact,
  entriesOf,
  getKey,
  isNumber,
  isObject,
  numberOf,
  objectOf,
  parseExact,
  textAt,
  type AnyObject,
} from '../../../lib/json/index.ts';
import type { RowLogin } from '../../../runner/login/authorize.ts';
import { newerLogins } from '../../../runner/logins/kept-json.ts';
import { loginsIn, withLogins } from '../../../runner/logins/state-logins.ts';
import { wholeState, wrappedState } from '../../../runner/state-parts.ts';
import type { ConfigurationLogin, LoginState } from '../../../storage/protocol/login.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { keyOf } from '../../stores/metadata/configuration-key.ts';
import type { ConfigurationKey } from '../../stores/metadata/tables.ts';
import { configurationsOf, type Transact } from '../../stores/metadata/transaction.ts';
import type { WholeConfiguration } from './model.ts';
import { contentOf, listRows, requireConfiguration } from './read-configuration.ts';
import { rowConfiguration } from './row-model.ts';

/** Seconds before its end from which a login that nothing renews ends soon. */
const SOON_SECONDS = 3 * 86_400;

/** Login as a state keeps it, without what is secret; times in milliseconds since 1970. */
export interface StateLogin {
  readonly name: string;
  readonly account: string | undefined;
  readonly savedMs: number;
  readonly endsMs: number | undefined;
  readonly refusedMs: number | undefined;
}

/** Returns the logins that the state of a configuration has; none of a state that cannot be read. */
export function keptLogins(state: string): readonly StateLogin[] {
  const { component } = wholeState(parseExact(state));
  const logins = getKey(component, 'logins');
  if (!isObject(logins)) return [];
  return entriesOf(logins).flatMap(([name, login]) =>
    isObject(login)
      ? [
          {
            name,
            account: textAt(login, 'account'),
            savedMs: (secondsAt(login, 'savedAt') ?? 0) * 1000,
            endsMs: msAt(login, 'endsAt'),
            refusedMs: msAt(login, 'refusedAt'),
          },
        ]
      : [],
  );
}

function secondsAt(login: AnyObject, key: string): number | undefined {
  const value = getKey(login, key);
  return isNumber(value) ? numberOf(value) : undefined;
}

function msAt(login: AnyObject, key: string): number | undefined {
  const seconds = secondsAt(login, key);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Describes the logins of a configuration by what its state has of them: no key is needed. */
export function describeLogins(
  named: readonly RowLogin[],
  state: string,
  nowSeconds: number,
): ConfigurationLogin[] {
  const kept = loginsIn(wholeState(parseExact(state)).component, 'the state of the configuration') ?? {};
  return named.map(({ row, at, name, isOfPerson }) => ({
    at,
    ...(row === undefined ? {} : { row }),
    isOfPerson,
    ...describe(getKey(kept, name), isOfPerson, nowSeconds),
  }));
}

function describe(
  login: ReturnType<typeof getKey>,
  isOfPerson: boolean,
  now: number,
): Omit<ConfigurationLogin, 'at' | 'isOfPerson' | 'row'> {
  if (!isObject(login)) return { state: isOfPerson ? 'none' : 'unused' };
  const [endsAt, refusedAt, savedAt] = ['endsAt', 'refusedAt', 'savedAt'].map((key) => secondsAt(login, key));
  const account = textAt(login, 'account');
  return {
    state: stateOf(endsAt, refusedAt, now),
    ...(account === undefined ? {} : { account }),
    // what a refusal has written is no renewal
    ...(savedAt === undefined || refusedAt !== undefined ? {} : { renewed: isoTime(savedAt * 1000) }),
    isRenewed: getKey(login, 'isRenewed') !== false,
    ...(endsAt === undefined ? {} : { endsAt: isoTime(endsAt * 1000) }),
    ...(refusedAt === undefined ? {} : { refused: isoTime(refusedAt * 1000) }),
  };
}

function stateOf(endsAt: number | undefined, refusedAt: number | undefined, now: number): LoginState {
  if (refusedAt !== undefined || (endsAt !== undefined && endsAt <= now)) return 'ended';
  return endsAt !== undefined && endsAt - now < SOON_SECONDS ? 'endsSoon' : 'active';
}

/**
 * Stores logins that a person has made into the state of a configuration; everything else of it stays, and so does who
 * has written it: a login controls no run.
 *
 * @throws {ApiError} 404 when the configuration is gone
 */
export async function keepLogins(
  transact: Transact,
  key: ConfigurationKey,
  logins: AnyObject,
): Promise<void> {
  await transact(configurationsOf(key), async (tx) => {
    const { head } = await requireConfiguration(tx, key);
    const { component, others } = wholeState(parseExact(head.state));
    const before = loginsIn(component, 'the state of the configuration') ?? {};
    const state = wrappedState(withLogins(component, newerLogins(logins, before)), others);
    await tx
      .updateTable('configurations')
      .set({ state: encodeExact(state) })
      .where((where) => where.and(keyOf(head)))
      .execute();
    return null;
  });
}

/** Returns a configuration with its rows as the text of a `config.json`. */
export async function documentOf(
  meta: Meta,
  {
    head,
    version,
    ...whole
  }: Pick<WholeConfiguration, 'head' | 'version'> & { readonly configuration?: string },
): Promise<string> {
  const configuration = whole.configuration ?? (await contentOf(meta, version));
  const rows = (await listRows(meta, { head, version })).map(({ head: { row_id }, version: row }) =>
    objectOf([
      ['id', row_id],
      ['isDisabled', row.is_disabled === 1],
      ['configuration', parseExact(rowConfiguration(row))],
    ]),
  );
  return encodeExact(
    objectOf([
      ['id', head.configuration_id],
      ['configuration', parseExact(configuration)],
      ['rows', rows],
    ]),
  );
}

/** Tells whether a text could have a login that is kept between runs; most have none, and cost nothing then. */
export function mayHaveLogins(document: string): boolean {
  return document.includes('oauth20.refreshToken');
}

/** Reads logins of a process of this service. */
export function readLogins(text: string): AnyObject {
  const value = parseExact(text);
  return isObject(value) ? objectOf(entriesOf(value)) : {};
}
