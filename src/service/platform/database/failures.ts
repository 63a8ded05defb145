import { RunError, type ErrorCode } from '../../../lib/errors.ts';

/**
 * The database cannot be worked with now, and may be again without anybody changing the service: it is away, starting,
 * full of connections, or has become a replica that takes no writing. What was being done is undone, or nobody knows.
 */
export class DatabaseUnavailable extends Error {}

/** The driver's own words for connections that are lost or do not come about; they have no code. */
const LOST =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout|Cannot use a pool after calling end|timeout expired)/i;

const NETWORK =
  /^(?:E(?:AI_AGAIN|CONNABORTED|CONNREFUSED|CONNRESET|HOSTDOWN|HOSTUNREACH|NETDOWN|NETUNREACH|NOTFOUND|PIPE|TIMEDOUT))$/;

/** SQLSTATEs: connection exceptions, too many connections, shut down, starting, taken back by the server. */
const AWAY = /^(?:08...|53300|57P0[1235]|25P0[34])$/;

const READ_ONLY = '25006';

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

/** Tells whether a connection cannot be used again after this error. */
export function isBroken(error: unknown): boolean {
  // One that has become read-only leads to a server that was the first one: the next may lead to its successor.
  return isUnavailable(error) || isReadOnly(error);
}

/** Tells whether the database refused a change because it is read-only: it is a replica, or set so. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error instanceof DatabaseUnavailable ? error.cause : error) === READ_ONLY;
}

export function isUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isUnavailable);
  const code = codeOf(error);
  return NETWORK.test(code) || AWAY.test(code) || (error instanceof Error && LOST.test(error.message));
}

/** The same error, or what it means where the database itself is in the way. */
export function asAway(error: unknown): unknown {
  if (!isBroken(error)) return error;
  return new DatabaseUnavailable(`The database cannot be used now: ${reasonOf(error)}`, { cause: error });
}

/** Returns the message of the database or of the network. Neither names the password. */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  return code === '' || error.message.includes(code) ? error.message : `${error.message} (${code})`;
}

/** Tells whether both transactions may be run again: one of them was in the way of the other. */
export const isConflict = (error: unknown): boolean => /^(?:40001|40P01|55P03)$/.test(codeOf(error));

interface Refusal {
  readonly code: ErrorCode;
  readonly is: (error: unknown) => boolean;
  readonly message: string;
  readonly hint: string;
}

/** Hint for a user without rights. */
export const MAY_NOT = 'It must own its schema, or be allowed to create it: GRANT CREATE ON DATABASE … TO ….';

/** Failures that waiting does not fix. */
const REFUSALS: readonly Refusal[] = [
  {
    code: 'database.tls',
    is: (error) =>
      /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|EPROTO)/.test(codeOf(error)) ||
      /SSL|no encryption|self-signed|certificate/i.test(error instanceof Error ? error.message : ''),
    message: 'The secure connection to the database could not be made',
    hint: 'sslmode in the address of the database says what is wanted: disable, require, verify-full; sslrootcert=FILE names the certificate of an authority of your own.',
  },
  {
    code: 'database.refused',
    is: (error) => codeOf(error) === '3D000',
    message: 'The server has no database of this name',
    hint: 'Create it (createdb NAME), or correct the end of the address.',
  },
  {
    code: 'database.refused',
    is: (error) =>
      codeOf(error).startsWith('28') || /^SASL|password/i.test(error instanceof Error ? error.message : ''),
    message: 'The database did not accept the user or the password',
    hint: 'Check both in the address (signs such as @ and / of a password are written %40 and %2F), and pg_hba.conf of the server.',
  },
  {
    code: 'database.refused',
    is: (error) => codeOf(error) === '42501',
    message: 'The user may not do in the database what the service needs',
    hint: MAY_NOT,
  },
];

/** An error of the start, for people. Undefined for one that may pass, and for what is none of the database. */
export function refusalOf(error: unknown, address: string): RunError | undefined {
  if (isReadOnly(error)) return readOnly(address);
  if (isUnavailable(error)) return undefined;
  const known = REFUSALS.find(({ is }) => is(error));
  if (known === undefined) return undefined;
  return new RunError(known.code, `${known.message}: ${reasonOf(error)}`, {
    where: { url: address },
    hint: known.hint,
    cause: error,
  });
}

export function readOnly(address: string): RunError {
  return new RunError(
    'database.readOnly',
    'The database takes no changes: it is a replica, or set to read-only.',
    {
      where: { url: address },
      hint: 'Give the address of the first server, not of a replica; default_transaction_read_only must be off.',
    },
  );
}
