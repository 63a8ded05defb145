import { columnIdentifier } from '../duckdb/identifiers.ts';
import { finiteNumber, orderClause, resultExpressions, whereClause } from '../duckdb/select.ts';
import { described } from '../described.ts';
import { profileTable } from '../profile.ts';
import { previewCell, previewPart, resultColumns } from '../row-selection.ts';
import { exportTable, tableAt, textsAt } from './export.ts';
import type { TableEngine } from '../engine.ts';
import type { LakeStore } from './store.ts';

/**
 * Reads tables as they are when they are asked for, or as all were at one version.
 *
 * @param at number of the version
 */
export function lakeReader(
  store: LakeStore,
  at?: number,
): Pick<TableEngine, 'count' | 'describe' | 'export' | 'preview' | 'profile'> {
  const { catalogue } = store;
  return {
    describe: async (table) => {
      const entry = await catalogue.find(table, at);
      return entry === undefined ? undefined : described(entry);
    },

    async count(table, filter) {
      const entry = await catalogue.require(table, at);
      const where = whereClause(filter, entry.columns, 'storage.tables.validation.columnNotExists');
      const from = textsAt(store, table, entry);
      return await store
        .database()
        .read([tableAt(store, table, entry)], (session) =>
          session.number(`SELECT count(*) FROM ${from}${where}`),
        );
    },

    export: (table, query, sliceOptions, take) => exportTable(store, table, query, sliceOptions, take, at),

    async preview(table, query) {
      const entry = await catalogue.require(table, at);
      const { columns } = entry;
      const where = whereClause(query, columns, 'storage.tables.validation.columnNotExists');
      const found = resultExpressions(query, columns);
      // The driver drops U+FEFF at the start of a text: the sign in front keeps it.
      const cells = found.map((_, i) => `'=' || ${previewCell(`r${i}`, query)}`);
      const order = orderClause(query.orderBy, columns) || ' ORDER BY rowid';
      const from = textsAt(store, table, entry);
      const rows = await store
        .database()
        .read([tableAt(store, table, entry)], (session) =>
          session.rows(
            `SELECT ${cells.join(', ')} FROM (SELECT ${found.join(', ')} FROM ${from}${where}${order}${previewPart(query)})`,
          ),
        );
      return {
        columns: resultColumns(query, columns),
        rows: rows.map((row) => row.map((cell) => String(cell).slice(1))),
      };
    },

    async profile(table, query) {
      const entry = await catalogue.require(table, at);
      const { columns, rows } = entry;
      const where = whereClause(query, columns, 'storage.tables.validation.columnNotExists');
      const from = textsAt(store, table, entry);
      return await store.database().read([tableAt(store, table, entry)], (session) =>
        profileTable(
          query,
          { columns, rows },
          {
            values: (column) => `SELECT ${columnIdentifier(column)} AS v FROM ${from}${where}`,
            number: finiteNumber,
            rows: (sql) => session.rows(sql),
          },
        ),
      );
    },
  };
}
