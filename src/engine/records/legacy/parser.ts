import { RecordError } from '../../../lib/errors.ts';
import { keysOf, toJsonText, type Json } from '../../../lib/json/index.ts';
import { PageTables } from '../lines.ts';
import type { PageRows, RecordParser } from '../parser.ts';
import { createLearner } from './learn.ts';
import { createLegacyWriter } from './rows.ts';
import { readStruct, writeStruct } from './struct.ts';
import type { AutomaticOptions } from '../automatic.ts';

/**
 * Creates the parser of `compatLevel` 1. It learns the columns from all pages and writes in `finish`. A page without
 * rows gives a table with its header if the columns are known.
 */
export function createLegacyParser(options: AutomaticOptions): RecordParser {
  const { log, jsonText = toJsonText } = options;
  const struct = readStruct(options.struct, log);
  const learner = createLearner(struct, log);
  const extraColumns = new Map<string, readonly string[]>();

  return {
    take(page) {
      const { dataType } = page;
      refuseLook(page);
      if (hasRows(page)) learner.learn(dataType, rowsOf(page));
      else if (!struct.has(dataType)) {
        log.debug(`No data in a page of “${dataType}”`, { dataType });
        return;
      }
      extraColumns.set(dataType, [
        ...new Set([...(extraColumns.get(dataType) ?? []), ...keysOf(page.extra)]),
      ]);
    },
    finish(pages, out) {
      const writer = createLegacyWriter(struct, extraColumns, jsonText, log);
      for (const page of pages()) {
        if (!struct.has(page.dataType)) continue;
        const tables = new PageTables(out);
        writer.write(page.dataType, hasRows(page) ? rowsOf(page) : [], page.extra, tables);
        tables.flush();
      }
    },
    get struct() {
      return writeStruct(struct);
    },
  };
}

/** @throws {RecordError} for rows that are to look as they cannot here */
function refuseLook({ dataType, look }: PageRows): void {
  if (look?.words === undefined && look?.unique === undefined) return;
  throw new RecordError(
    'records.invalid',
    `“cells” and “links” are not known in the older way of tables, in which “${dataType}” is written`,
    { hint: 'Leave “compatLevel” out, or these keys of the job.' },
  );
}

/** Tells whether a page has rows; null as its only row counts as empty. */
function hasRows(page: PageRows): boolean {
  if (page.count > 1 && page.count < Infinity) return true;
  let rows = 0;
  for (const row of rowsOf(page)) if (row !== null || rows++ > 0) return true;
  return false;
}

function* rowsOf(page: PageRows): Iterable<Json> {
  for (const rows of page.chunks()) yield* rows;
}
