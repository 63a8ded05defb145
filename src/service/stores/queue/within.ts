import { CompiledQuery } from 'kysely';
import type { Db } from 'pg-boss';
import type { Meta } from '../metadata/database.ts';

/** A transaction of ours, as pg-boss takes part in it. */
export function within(tx: Meta): Db {
  return {
    async executeSql(text, values = []) {
      const { rows } = await tx.executeQuery(CompiledQuery.raw(text, [...values]));
      return { rows };
    },
  };
}
