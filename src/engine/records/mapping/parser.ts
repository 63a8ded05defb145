import { RecordError } from '../../../lib/errors.ts';
import { serializeMap, sizeOf, toJsonText, type JsonText } from '../../../lib/json/index.ts';
import { PageTables } from '../lines.ts';
import { scalarText } from '../look.ts';
import type { PageRows, RecordParser, TableOutput } from '../parser.ts';
import type { Log } from '../../../lib/log.ts';
import type { ParseCellTime } from './cells.ts';
import type { MappedPage } from './mapped-page.ts';
import type { ColumnEntry, Mappings } from './mapping.ts';
import { createRowWriter } from './rows.ts';
import { withChildren } from './tree.ts';

export interface MappedParserOptions {
  readonly mappings: Mappings;
  /** Takes the pages of data types without a mapping. */
  readonly otherwise: RecordParser;
  /** Reads the values of `date` entries. */
  readonly parseTime: ParseCellTime;
  /** Told of values that do not fit the type of their column. */
  readonly log?: Log | undefined;
  /** Text of lists and objects in cells; the reference's by default. */
  readonly jsonText?: JsonText;
}

export interface MappedParser extends RecordParser {
  /** Tells whether the rows of a data type are written in `take`: `finish` reads none of its pages again. */
  writesAtOnce(dataType: string): boolean;
}

/**
 * Creates the parser of the mapping mode. The columns are known from the mapping, so rows are written as they come. A
 * data type that is processed gets its table, with zero rows too.
 */
export function createMappedParser(options: MappedParserOptions): MappedParser {
  const { mappings, otherwise, parseTime, log, jsonText = toJsonText } = options;
  const tables = new Set(
    [...mappings.values()].flatMap((mapping) => withChildren(mapping).map(({ table }) => table)),
  );
  const writers = new Map(
    [...mappings].map(([type, mapping]) => [type, createRowWriter(mapping, { parseTime, jsonText })]),
  );

  let taken = 0;
  const misfits = new Map<ColumnEntry, Misfits>();
  return {
    take(page, out) {
      const writer = writers.get(page.dataType);
      if (writer === undefined) return otherwise.take(page, keepLayouts(out, tables));
      const at = { row: 0 };
      const mapped = mappedPage(page, out, { index: taken++, at, misfits });
      writer.open(mapped);
      for (const rows of page.chunks())
        for (const row of rows) {
          at.row++;
          writer.write([row], '', mapped);
        }
      mapped.tables.flush();
    },
    finish(pages, out) {
      for (const [entry, found] of misfits) log?.warn(textOf(entry, found));
      otherwise.finish(() => unmapped(pages(), mappings), keepLayouts(out, tables));
    },
    struct: undefined,
    writesAtOnce: (dataType) => mappings.has(dataType),
  };
}

/** Values that did not fit a column. */
interface Misfits {
  readonly first: string;
  count: number;
}

function textOf({ column, type, misfit, at }: ColumnEntry, { first, count }: Misfits): string {
  const what = misfit === 'skip' ? 'left out' : 'written as null';
  const values = count === 1 ? '1 value' : `${count} values`;
  return `${values} of the column “${column}” did not fit ${type} and ${count === 1 ? 'was' : 'were'} ${what}${misfit === 'skip' ? ' with the row' : ''} (${at}); the first was ${first}`;
}

interface Writing {
  readonly index: number;
  readonly at: { readonly row: number };
  readonly misfits: Map<ColumnEntry, Misfits>;
}

function mappedPage(
  { extra, look = {}, page }: PageRows,
  out: TableOutput,
  { index, at, misfits }: Writing,
): MappedPage {
  let text: string | undefined;
  const extraText = (): string => (text ??= sizeOf(extra) === 0 ? '' : serializeMap(extra));
  let row = 0;
  const { unique } = look;
  const salt = (): string => (unique === undefined ? '' : `#${unique}.${index}.${row++}`);
  const place = (): string => `row ${at.row} of ${page ?? `page ${index + 1}`}`;
  const note = (entry: ColumnEntry, cell: string): void => {
    const known = misfits.get(entry);
    if (known === undefined) misfits.set(entry, { first: `“${cell.slice(0, 60)}” in ${place()}`, count: 1 });
    else known.count++;
  };
  return { extra, extraText, tables: new PageTables(out), scalar: scalarText(look), salt, place, note };
}

function* unmapped(pages: Iterable<PageRows>, mappings: Mappings): Iterable<PageRows> {
  for (const page of pages) if (!mappings.has(page.dataType)) yield page;
}

/** Keeps the columns of mapped tables: data without a mapping may add rows to them, but no columns. */
function keepLayouts(out: TableOutput, tables: ReadonlySet<string>): TableOutput {
  return {
    open: (layout) => out.open(layout),
    append: (table, lines, rows) => out.append(table, lines, rows),
    relayout(layout) {
      if (!tables.has(layout.name)) return out.relayout(layout);
      throw new RecordError(
        'records.invalid',
        `Records without a mapping would add columns to the mapped table “${layout.name}”`,
        {
          hint: 'Map their “dataType” too, or give the mapped table another name.',
        },
      );
    },
    rewrite: () => out.rewrite(),
  };
}
