import type { PoolClient, QueryResult } from 'pg';
import {
  ColumnDefinitionNode,
  CompiledQuery,
  Kysely,
  PostgresDialect,
  PostgresDriver,
  PostgresQueryCompiler,
  type DataTypeNode,
  type PostgresAdapter,
  type DatabaseConnection,
  type PostgresPool,
  type PostgresPoolClient,
} from 'kysely';
import { asAway, isBroken } from '../../platform/database/failures.ts';
import type { Database } from '../../platform/database/database.ts';
import { ServiceAdapter } from './dialect.ts';
import { readText, writeText } from './nul.ts';
import type { MetadataTables } from './tables.ts';

export interface PostgresMetaOptions {
  /** True when a statement, a wait for a lock and an idle transaction end after a time; default: true. */
  readonly isBounded?: boolean;
}

/** A pool, or one connection that all callers share. */
export interface Connecting {
  connect(): Promise<Pick<PoolClient, 'query' | 'release'>>;
}

/** The metadata in a schema of a PostgreSQL database: the same queries mean the same as in SQLite. */
export function connectPostgres(
  { pool, schema }: { readonly pool: Connecting } & Pick<Database, 'schema'>,
  { isBounded = true }: PostgresMetaOptions = {},
): Kysely<MetadataTables> {
  const dialect = new ServiceDialect(adapt(pool, isBounded), schema, isBounded);
  return new Kysely<MetadataTables>({ dialect }).withSchema(schema);
}

class ServiceDialect extends PostgresDialect {
  readonly #pool: PostgresPool;
  readonly #schema: string;
  readonly #isBounded: boolean;

  constructor(pool: PostgresPool, schema: string, isBounded: boolean) {
    super({ pool });
    this.#pool = pool;
    this.#schema = schema;
    this.#isBounded = isBounded;
  }

  override createDriver(): PostgresDriver {
    return new ServiceDriver(this.#pool, this.#isBounded);
  }

  override createAdapter(): PostgresAdapter {
    return new ServiceAdapter(this.#schema);
  }

  override createQueryCompiler(): PostgresQueryCompiler {
    return new ServiceCompiler();
  }
}

/** Columns are as wide and are sorted as in SQLite: whole numbers of 64 bits, texts by their bytes. */
class ServiceCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    const isColumn = this.parentNode !== undefined && ColumnDefinitionNode.is(this.parentNode);
    if (isColumn && node.dataType === 'text') this.append('text collate "C"');
    else if (isColumn && node.dataType === 'integer') this.append('bigint');
    else super.visitDataType(node);
  }
}

/** Nobody holds a lock for long, also not a process whose machine is gone. `set local` is for the transaction alone. */
const BOUNDS = [
  "set local lock_timeout = '20s'",
  "set local statement_timeout = '60s'",
  "set local idle_in_transaction_session_timeout = '10s'",
];

class ServiceDriver extends PostgresDriver {
  readonly #begin: string;

  constructor(pool: PostgresPool, isBounded: boolean) {
    super({ pool });
    this.#begin = [BEGIN, ...(isBounded ? BOUNDS : [])].join('; ');
  }

  // Independent of the server's setting: reads see committed data, and writers take their locks first.
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(this.#begin));
  }
}

const BEGIN = 'begin isolation level read committed';

/** A network that swallows everything is noticed after that time. */
const ANSWER_MS = 90_000;

function adapt(pool: Connecting, isBounded: boolean): PostgresPool {
  return {
    connect: async () => adaptClient(await pool.connect().catch(rethrow), isBounded ? ANSWER_MS : undefined),
    end: async () => undefined,
    // Options of a control client that would cancel statements: nothing here does.
    options: {},
  };
}

function adaptClient(
  client: Pick<PoolClient, 'query' | 'release'>,
  query_timeout: number | undefined,
): PostgresPoolClient {
  let isLost = false;
  // Waits for the first statement of the transaction, and goes with it where that has no values.
  let begin: string | undefined;
  const query = async (asked: string, given: readonly unknown[] = []): Promise<Answered> => {
    if (asked.startsWith(BEGIN)) {
      begin = asked;
      return EMPTY;
    }
    let text = asked;
    if (begin !== undefined) {
      const first = begin;
      begin = undefined;
      if (text === 'commit' || text === 'rollback') return EMPTY;
      if (given.length === 0) text = `${first}; ${text}`;
      else await send(first);
    }
    return await send(text, given);
  };
  const send = async (text: string, given: readonly unknown[] = []): Promise<Answered> => {
    const values = given.length === 0 ? {} : { values: given.map(inputValue) };
    try {
      const asked = { text, types: TYPES, ...values, ...(query_timeout && { query_timeout }) };
      // Several statements at once have several results, of which the last one is the first statement's own.
      const answered: Answered | readonly Answered[] = await client.query(asked);
      return [answered].flat().at(-1) ?? EMPTY;
    } catch (error) {
      isLost ||= isBroken(error);
      // The error that broke the connection has ended the transaction, and is the one reported.
      if (text !== 'rollback') throw asAway(error);
      isLost = true;
      return EMPTY;
    }
  };
  return {
    // Cursors are for streaming, which is not used here.
    query: query as PostgresPoolClient['query'],
    release: (isDiscarded) => client.release(isLost || isDiscarded === true),
  };
}

type Answered = Pick<QueryResult, 'command' | 'rowCount' | 'rows'>;

const EMPTY: Answered = { command: '', rowCount: 0, rows: [] };

function rethrow(error: unknown): never {
  throw asAway(error);
}

function inputValue(value: unknown): unknown {
  if (typeof value === 'string') return writeText(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Date) return value.toISOString();
  return value ?? null;
}

const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => (text === 't' ? 1 : 0),
  20: wholeNumber,
  21: wholeNumber,
  23: wholeNumber,
  25: readText,
  700: Number,
  701: Number,
  1043: readText,
  // Type of a sum of whole numbers.
  1700: wholeNumber,
};

const asIs = (text: string): string => text;

// The overload of the driver for texts is enough: nothing here asks for the binary form.
const TYPES = { getTypeParser: (type: number) => PARSERS[type] ?? asIs };

/** @throws for one that would not be exact */
function wholeNumber(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError(`The database answered ${text}, which is no number that can be counted with.`);
}
