import { PostgresAdapter, sql, type Kysely } from 'kysely';

/** Which database a query goes to. */
type Executing = Pick<Kysely<unknown>, 'getExecutor'>;

/** The schema that the metadata is in; undefined when it is in SQLite. */
export function postgresSchema(meta: Executing): string | undefined {
  const { adapter } = meta.getExecutor();
  return adapter instanceof ServiceAdapter ? adapter.schema : undefined;
}

/** Kysely adapter for a PostgreSQL database that is used through pgbouncer. */
export class ServiceAdapter extends PostgresAdapter {
  readonly schema: string;

  constructor(schema: string) {
    super();
    this.schema = schema;
  }

  // A lock of the session would stay with pgbouncer: that of the transaction that migrations run in ends with it.
  override async acquireMigrationLock(db: Kysely<unknown>): Promise<void> {
    const name = `${this.schema}: migrations`;
    await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
  }

  override async releaseMigrationLock(): Promise<void> {
    // It ends with the transaction.
  }
}
