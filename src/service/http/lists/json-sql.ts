import { sql, type Expression, type RawBuilder } from 'kysely';
import type { Meta } from '../../stores/metadata/database.ts';
import { postgresSchema } from '../../stores/metadata/dialect.ts';
import { NUL } from '../../stores/metadata/nul.ts';

type Text = Expression<unknown>;

/** Parts of JSON that the database makes: a long list needs no objects that are only made to be written. */
export interface JsonSql {
  /** Text quoted as `JSON.stringify` would; `null` as it is. */
  readonly quoted: (text: Text) => RawBuilder<string>;
  /** Time as {@link apiTime} gives it, quoted. */
  readonly time: (iso: Text) => RawBuilder<string>;
  /** Boolean of a column that is 1 or 0. */
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
  // The character that stands for U+0000 in the database; JSON has U+0000 only as an escape.
  quoted: (text) => sql`coalesce(replace(to_json(${text})::text, ${sql.lit(NUL)}, '\\u0000'), 'null')`,
  joined: (text, order) => sql`string_agg(${text}, ',' order by ${order})`,
};
