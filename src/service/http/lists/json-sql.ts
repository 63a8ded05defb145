import { sql, type Expression, type RawBuilder } from 'kysely';
import type { Meta } from '../../stores/metadata/database.ts';
import { postgresSchema } from '../../stores/metadata/dialect.ts';
import { NUL } from '../../stores/metadata/nul.ts';

type Text = Expression<unknown>;

/** Parts of JSON that the database makes: a long list is never made of objects that only are to be written. */
export interface JsonSql {
  /** A text as the platform would quote it; `null` as it is. */
  readonly quoted: (text: Text) => RawBuilder<string>;
  /** As {@link apiTime} gives it, quoted. */
  readonly time: (iso: Text) => RawBuilder<string>;
  /** Of a column that is 1 or 0. */
  readonly flag: (value: Text) => RawBuilder<string>;
  /** Texts of a group with commas between them. */
  readonly joined: (text: Text, order: Text) => RawBuilder<string>;
}

export function jsonSql(meta: Meta): JsonSql {
  return {
    ...(postgresSchema(meta) === undefined ? SQLITE : POSTGRES),
    time: (iso) => sql`coalesce('"' || substr(${iso}, 1, 19) || '+0000"', 'null')`,
    flag: (value) => sql`(case ${value} when 1 then 'true' else 'false' end)`,
  };
}

type Dialect = Pick<JsonSql, 'joined' | 'quoted'>;

const SQLITE: Dialect = {
  quoted: (text) => sql`json_quote(${text})`,
  joined: (text, order) => sql`group_concat(${text}, ',' order by ${order})`,
};

const POSTGRES: Dialect = {
  // What stands for U+0000 there, which JSON has only as an escape.
  quoted: (text) => sql`coalesce(replace(to_json(${text})::text, ${sql.lit(NUL)}, '\\u0000'), 'null')`,
  joined: (text, order) => sql`string_agg(${text}, ',' order by ${order})`,
};
