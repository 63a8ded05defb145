import type { Json } from '../../../../lib/json/index.ts';
import { keyOf, type Position } from '../../../../engine/recording/position.ts';
import type { RunProgress } from '../../../../runner/run.ts';
import type { Secrets } from '../../../../lib/secrets.ts';
import type { TriedRows, TriedTable } from '../builder-types.ts';
import { cutJson } from './cut-json.ts';

type RowsEvent = Parameters<NonNullable<RunProgress['rows']>>[0];

/** Most rows shown of each answer. */
const SHOWN_ROWS = 50;
/** Most characters of all answers: child jobs may send hundreds of requests. */
const MAX_LETTERS = 4_000_000;

interface Read extends Omit<TriedRows, 'table'> {
  /** Row of the configuration. */
  readonly row: string | undefined;
  readonly dataType: string;
  /** Rows of its table before it; undefined where they cannot be counted. */
  readonly from: number | undefined;
}

/** Rows in the answers of a trial: the first ones, and their lines in the tables. */
export class RowsRead {
  readonly #secrets: Secrets;
  readonly #read = new Map<string, Read>();
  /** Rows of each job so far; undefined where some of them were changed or left out on the way. */
  readonly #counts = new Map<string, number | undefined>();
  #lettersLeft = MAX_LETTERS;

  constructor(secrets: Secrets) {
    this.#secrets = secrets;
  }

  see(row: string | undefined, { position, dataType, at, count, isChanged, chunks }: RowsEvent): void {
    const of = keyIn(row, dataType);
    const from = this.#counts.has(of) ? this.#counts.get(of) : 0;
    this.#counts.set(of, from === undefined || isChanged ? undefined : from + count);
    const sample = this.#lettersLeft > 0 ? cutJson(firstOf(chunks()), this.#secrets) : '[]';
    this.#lettersLeft -= sample.length;
    this.#read.set(keyIn(row, keyOf(position)), {
      ...(at === undefined ? {} : { at: at.join('.') }),
      count,
      sample,
      row,
      dataType,
      from: isChanged ? undefined : from,
    });
  }

  /** Returns the rows of a request; undefined when its answer was not read. */
  of(row: string | undefined, position: Position, tables: readonly TriedTable[]): TriedRows | undefined {
    const read = this.#read.get(keyIn(row, keyOf(position)));
    if (read === undefined) return undefined;
    const { at, count, sample, dataType, from } = read;
    const all = this.#counts.get(keyIn(row, dataType));
    const table = tables.find((each) => each.row === row && isNamed(each.name, dataType));
    return {
      ...(at === undefined ? {} : { at }),
      count,
      sample,
      // As many lines as rows: then they are these rows, in their order.
      ...(table === undefined || from === undefined || all !== table.rowsCount
        ? {}
        : { table: { name: table.name, from } }),
    };
  }
}

function firstOf(chunks: Iterable<readonly Json[]>): readonly Json[] {
  const rows: Json[] = [];
  for (const chunk of chunks) {
    rows.push(...chunk.slice(0, SHOWN_ROWS - rows.length));
    if (rows.length === SHOWN_ROWS) break;
  }
  return rows;
}

const keyIn = (row: string | undefined, key: string): string => `${row ?? ''}\n${key}`;

/**
 * Tells whether a table has that name: the bucket may stand in front, and a character that is invalid in table names
 * is replaced.
 */
function isNamed(table: string, dataType: string): boolean {
  const name = plain(dataType);
  return plain(table) === name || plain(table.slice(table.lastIndexOf('.') + 1)) === name;
}

const plain = (name: string): string => name.replace(/[^A-Za-z0-9-]+/g, '_').replace(/^_|_$/g, '');
