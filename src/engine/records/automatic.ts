import { RecordError } from '../../lib/errors.ts';
import { toJsonText, type AnyObject, type Json, type JsonText } from '../../lib/json/index.ts';
import type { Log } from '../../lib/log.ts';
import { release } from '../../lib/release.ts';
import { Scratch } from '../../lib/scratch.ts';
import { ChunkLines, PARENT_COLUMN, type ChunkPlace, type OpenTable } from './chunk-lines.ts';
import { RowEmitter } from './emit.ts';
import { RawEmitter, scalarNames } from './emit-raw.ts';
import { doubtfulNames } from './column-names.ts';
import { TableExtras, type Aliases } from './extras.ts';
import { safeName } from './names.ts';
import type { SeenRows } from '../shared/seen-rows.ts';
import type { PageRows, RecordParser, TableOutput, TypedColumn } from './parser.ts';
import { itemPlans, planOf, sameLayout, seenCells, type ItemPlan } from './plan.ts';
import { checkSharing, mixedNames } from './shared.ts';
import { structToJson, structFromJson } from './struct.ts';
import { Structure, type StructureNode } from './structure.ts';
import { RawSeen, type RawPage, type RawRows } from './raw-rows.ts';
import type { LineMakers, LinesMade, RowsAsked, TableData } from './threads/messages.ts';
import { tablesOf } from './threads/plan-data.ts';
import { columnsOf, type RecordTable } from './table.ts';

export interface AutomaticOptions {
  /** `json_parser.struct` of the state file. */
  readonly struct?: Json | undefined;
  readonly log: Log;
  /** Text of lists in cells; the reference's by default. */
  readonly jsonText?: JsonText;
}

/**
 * Flattens records into tables whose columns are discovered from the data.
 *
 * The reference looks at all pages first and writes afterwards. This parser writes each page as it comes, as long as
 * the page shows nothing new. When it does (a column, a list where a value was), the tables concerned change
 * their layout: what they hold so far is stale, and `finish` writes it again from the pages, which are read a second time. The result
 * is what writing everything at the end would give, and memory does not grow with the run.
 */
export function createAutomaticParser(options: AutomaticOptions): RecordParser {
  return new AutomaticParser(options);
}

/** A page whose lines another thread makes. */
interface PageAhead {
  readonly page: PageRows;
  readonly raw: RawPage;
  readonly root: ItemPlan;
  readonly tables: readonly (TableData | undefined)[];
  readonly undo: () => void;
  readonly index: number;
}

/** A place in the run where a table met a set of extra columns for the first time, and what they were called. */
interface ExtrasEvent {
  readonly node: StructureNode;
  readonly extra: AnyObject;
  readonly names: string;
}

/** Pages after which rows are decoded at once. */
const MOST_MISFITS = 3;

const SMALL_N = 0x6e;

/** Rows of a page that follow each other in one chunk. */
interface RowsPart {
  /** Number of the chunk. */
  readonly chunk: number;
  readonly chunkRows: number;
  /** Bytes of the chunk, in which the rows begin at one offset and end at another. */
  readonly bytes: Uint8Array;
  readonly at: number;
  readonly end: number;
  /** The first row, in the chunk. */
  readonly row: number;
  readonly rows: number;
  /** First row of the chunk, in the page. */
  readonly rowInPage: number;
}

/** Divides the rows of a page for several threads. */
function* partsOf({ chunks }: RawPage): Generator<RowsPart> {
  let rowInPage = 0;
  for (const [chunk, raw] of chunks.entries()) {
    const { bytes, start, end } = raw.open();
    const common = { chunk, chunkRows: raw.rows, bytes, rowInPage };
    let [at, row] = [start, 0];
    for (const cut of raw.cuts) {
      yield { ...common, at, end: start + cut.end, row, rows: cut.rows - row };
      [at, row] = [start + cut.start, cut.rows];
    }
    yield { ...common, at, end, row, rows: raw.rows - row };
    rowInPage += raw.rows;
  }
}

/** Tells whether the only row of a page is null. */
function isLoneNull({ count }: PageRows, raw: RawPage): boolean {
  if (count !== 1) return false;
  const [chunk] = raw.chunks;
  if (chunk === undefined) return false;
  const { bytes, start } = chunk.open();
  return bytes[start] === SMALL_N;
}

class AutomaticParser implements RecordParser {
  readonly #structure: Structure;
  readonly #log: Log;
  readonly #plans = new Map<string, { plan: ItemPlan; version: number }>();
  #tables = new Map<StructureNode, RecordTable>();
  readonly #events: ExtrasEvent[] = [];
  #aliases: Aliases = new Map();
  #page = 0;
  #rewriting = false;
  /** Output of the current page. */
  #out: TableOutput | undefined;
  readonly #lines: ChunkLines;
  readonly #emitter: RowEmitter;
  readonly #rawEmitter: RawEmitter;
  /** The chunk at hand, of a body that is too large for memory. */
  readonly #scratch = new Scratch();
  /** Pages that could not be written from their bytes although they showed nothing new. */
  #misfits = 0;
  /** Data types with rows whose values are not looked at for types. */
  readonly #untyped = new Set<string>();

  constructor({ struct, log, jsonText = toJsonText }: AutomaticOptions) {
    this.#log = log;
    this.#lines = new ChunkLines(
      (plan, extra) => this.#open(plan, extra),
      () => this.#aliases.get(PARENT_COLUMN),
    );
    this.#emitter = new RowEmitter(this.#lines, jsonText);
    this.#rawEmitter = new RawEmitter(this.#lines);
    const warned = new Set<string>();
    this.#structure = new Structure((path) => {
      if (warned.has(path)) return;
      warned.add(path);
      log.warn(`A list directly inside a list is kept as JSON text in “${path}”`);
    });
    if (struct !== undefined) structFromJson(struct, this.#structure);
  }

  get struct(): Json {
    return structToJson(this.#structure, this.#untyped);
  }

  take(page: PageRows, out: TableOutput): void {
    this.#takeAs(page, out, this.#page++);
  }

  takeAhead(page: PageRows, out: TableOutput, threads: LineMakers): Promise<void> | undefined {
    const raw = this.#rawOf(page);
    if (raw === undefined || isLoneNull(page, raw)) return undefined;
    const root = this.#plan(page.dataType);
    // rows without lists are written in little more time than it takes to hand them over
    if (!root.row.hasLists) return undefined;
    const use = threads.takes(raw.chunks.reduce((sum, { size }) => sum + size, 0));
    if (use === 'none') return undefined;
    const index = this.#page++;
    this.#out = out;
    const undo = this.#remember();
    const tables = this.#openTables(root, page.extra);
    if (tables !== undefined && use === 'all')
      return this.#takeFrom(threads, { page, raw, root, tables, undo, index }, out);
    const [part] = tables === undefined ? [] : this.#partsAsked({ page, raw, tables, index });
    if (part !== undefined) threads.practise(root, part.asked);
    undo();
    this.#page--;
    return undefined;
  }

  /** Divides the rows of a page for threads. */
  #partsAsked({
    page: { look = {} },
    raw,
    tables,
    index,
  }: Omit<PageAhead, 'undo' | 'root'>): readonly { readonly part: RowsPart; readonly asked: RowsAsked }[] {
    const common = { tables, alias: this.#aliases.get(PARENT_COLUMN), look, wanted: raw.wanted() };
    return Array.from(partsOf(raw), (part) => {
      const { bytes, at, end, row, rows, rowInPage } = part;
      const place = { page: index, row: rowInPage + row };
      return { part, asked: { ...common, bytes: bytes.subarray(at, end), rows, place } };
    });
  }

  async #takeFrom(threads: LineMakers, ahead: PageAhead, out: TableOutput): Promise<void> {
    const { page, raw, root, tables, undo, index } = ahead;
    const parts = this.#partsAsked(ahead);
    const made = await threads.make(
      root,
      parts.map(({ asked }) => asked),
    );
    if (!made.every((lines) => lines !== undefined && this.#areOpen(root, lines, tables))) {
      undo();
      this.#takeAs(page, out, index);
      return;
    }
    const plans = tablesOf(root);
    this.#noteTypes(page);
    const columns = scalarNames(root, parts[0]?.asked.wanted ?? []);
    let seen: RawSeen | undefined;
    for (const [i, lines] of made.entries()) {
      const part = parts[i]?.part;
      if (lines === undefined || part === undefined) continue;
      for (const { table: number, bytes, rows } of lines.batches) {
        const table = this.#tables.get(plans[number]?.node ?? root.node);
        if (table === undefined) continue;
        table.file.rows += rows;
        out.append(table.name, bytes, rows);
        release(bytes);
      }
      for (const [number, row] of lines.values.entries())
        for (const [j, cell] of seenCells(plans[number]?.row ?? root.row).entries())
          cell?.seeAll(row[j] ?? [], page.page);
      const { bytes, at, row, chunk, chunkRows } = part;
      if (row === 0) seen = new RawSeen({ bytes, rows: chunkRows }, columns);
      seen?.add(lines.seen, row, at);
      if (seen !== undefined && row + part.rows === chunkRows) raw.see(chunk, seen);
    }
  }

  /**
   * Opens the table of a page, and gives all tables as they are open; undefined where the page has extra columns that the
   * table did not have so before.
   */
  #openTables(root: ItemPlan, extra: AnyObject): readonly (TableData | undefined)[] | undefined {
    if (!this.#tables.has(root.node)) return undefined;
    this.#open(root, extra);
    return this.#tables.get(root.node)?.extras.learned === undefined
      ? tablesOf(root).map(({ node }) => {
          const table = this.#tables.get(node);
          return table && { name: table.name, ...table.pageExtras };
        })
      : undefined;
  }

  /** Opens the tables that got rows, and tells whether they are as they were for the thread that made them. */
  #areOpen(root: ItemPlan, { opened }: LinesMade, tables: readonly (TableData | undefined)[]): boolean {
    const plans = tablesOf(root);
    return opened.every((number) => {
      const plan = plans[number];
      const [name] = tables[number]?.entries[0] ?? [];
      if (plan === undefined) return false;
      if (plan === root) return true;
      const table = this.#open(plan, { [PARENT_COLUMN]: '' });
      return table.pageExtras.entries[0]?.[0] === name;
    });
  }

  /** Returns the rows of a page as bytes, if they are to be written from them. */
  #rawOf({ raw, dataType, count }: PageRows): RawPage | undefined {
    return count > 0 && this.#misfits < MOST_MISFITS && this.#isKnown(dataType) ? raw : undefined;
  }

  #takeAs(page: PageRows, out: TableOutput, index: number): void {
    if (page.count === 0) return;
    this.#noteTypes(page);
    const raw = this.#rawOf(page);
    const isRaw = raw !== undefined;
    if (isRaw && this.#takeRaw(page, raw, out, index)) return;
    const [first = []] = page.chunks();
    if (page.count === 1 && first[0] === null) {
      this.#log.debug(`The only row of a page of “${page.dataType}” is null and is left out`);
      return;
    }
    const whole = first.length === page.count;
    if (whole && !isRaw && this.#isKnown(page.dataType)) {
      const undo = this.#remember();
      if (this.#write(page, [first], out, { page: index, row: 0 })) return;
      undo();
    }
    const { version } = this.#structure;
    this.#learn(page, whole ? [first] : page.chunks(), index);
    if (isRaw && version === this.#structure.version) this.#misfits++;
    this.#relayout(page.dataType, index, out);
    if (!this.#write(page, whole ? [first] : page.chunks(), out, { page: index, row: 0 }))
      throw new RecordError(
        'internal',
        `A record of “${page.dataType}” does not fit the structure learned from it`,
        {
          audience: 'application',
        },
      );
  }

  finish(pages: () => Iterable<PageRows>, out: TableOutput): void {
    this.#mixShared(out);
    const stale = this.#staleness(out);
    if (stale > 0) this.#rewrite(pages(), stale, out);
    for (const table of this.#tables.values()) {
      const { name, file, node } = table;
      const first = { path: file.owner.path, columns: file.columns };
      checkSharing(name, first, { path: node.path, columns: columnsOf(table) }, this.#log);
      const doubt = doubtfulNames(table);
      if (doubt !== undefined) this.#log.warn(doubt);
    }
  }

  types(): ReadonlyMap<string, readonly TypedColumn[]> {
    const types = new Map<string, readonly TypedColumn[]>();
    const shared = new Set<string>();
    for (const dataType of this.#structure.types.keys())
      for (const plan of itemPlans(this.#plan(dataType))) {
        const table = this.#tables.get(plan.node);
        if (table === undefined) continue;
        const { name } = table;
        if (shared.has(name) || this.#untyped.has(dataType)) types.delete(name);
        else types.set(name, typedColumns(table));
        shared.add(name);
      }
    return types;
  }

  /** Notes whether all rows of a data type are looked at for types: those of one job are not enough. */
  #noteTypes({ dataType, look }: PageRows): void {
    if (look?.types !== true) this.#untyped.add(dataType);
  }

  #rewrite(pages: Iterable<PageRows>, stale: number, out: TableOutput): void {
    this.#rewriting = true;
    this.#aliases = new Map();
    for (const table of this.#tables.values()) {
      table.extras = this.#newExtras(table.plan, table.extras);
    }
    out.rewrite();
    let index = 0;
    for (const page of pages) {
      if (index >= stale) break;
      this.#rewritePage(page, index++, out);
    }
  }

  #rewritePage(page: PageRows, index: number, out: TableOutput): void {
    this.#page = index;
    if (page.count === 0) return;
    let row = 0;
    const { raw } = page;
    if (raw !== undefined && !(raw.chunks.length === 1 && isLoneNull(page, raw))) {
      for (const chunk of raw.chunks) {
        const place = { page: index, row };
        this.#out = out;
        if (this.#emitRaw(page, chunk, place) === undefined) this.#write(page, [chunk.decode()], out, place);
        else this.#append(out);
        row += chunk.rows;
      }
      return;
    }
    for (const chunk of page.chunks()) {
      if (page.count === 1 && chunk[0] === null) return;
      this.#write(page, [chunk], out, { page: index, row });
      row += chunk.length;
    }
  }

  /** Writes a page from its bytes; false, and nothing written, where that cannot be. */
  #takeRaw(page: PageRows, raw: RawPage, out: TableOutput, index: number): boolean {
    const { chunks } = raw;
    if (chunks.length === 0 || isLoneNull(page, raw)) return false;
    this.#out = out;
    // a page is written as a whole or not at all: of several chunks, all are tried first
    if (chunks.length > 1) {
      const undo = this.#remember();
      const fits = chunks.every((chunk) => this.#emitRaw(page, chunk, { page: index, row: 0 }) !== undefined);
      undo();
      if (!fits) return false;
    }
    let row = 0;
    for (const [i, chunk] of chunks.entries()) {
      const seen = this.#emitRaw(page, chunk, { page: index, row }, raw.wanted());
      if (seen === undefined && i === 0) return false;
      if (seen === undefined) throw new Error('rows that could be written from their bytes cannot be');
      this.#append(out);
      raw.see(i, seen);
      row += chunk.rows;
    }
    return true;
  }

  /** Makes the lines of a chunk from its bytes; undefined, and nothing learned, where that cannot be. */
  #emitRaw(
    page: PageRows,
    chunk: RawRows,
    place: ChunkPlace,
    wanted: readonly string[] = [],
  ): SeenRows | undefined {
    const root = this.#plan(page.dataType);
    const bytes = { ...chunk.open(this.#scratch), rows: chunk.rows };
    for (;;) {
      const undo = this.#remember();
      const seen = this.#rawEmitter.rows(root, bytes, page, place, wanted);
      if (seen !== undefined) return seen;
      undo();
      if (!this.#rawEmitter.isToRepeat) return undefined;
    }
  }

  /** Appends the lines of the last chunk to their tables. */
  #append(out: TableOutput): void {
    for (const { table, bytes, rows: count } of this.#lines.batches()) {
      const known = this.#tables.get(table.plan.node);
      if (known === undefined || (this.#rewriting && this.#page >= known.file.staleBefore)) continue;
      known.file.rows += count;
      out.append(table.name, bytes, count);
    }
  }

  /** Writes rows that the structure covers; false, and nothing written, when a row shows something new. */
  #write(page: PageRows, chunks: Iterable<readonly Json[]>, out: TableOutput, place: ChunkPlace): boolean {
    const root = this.#plan(page.dataType);
    this.#out = out;
    let { row } = place;
    for (const rows of chunks) {
      if (rows.length === 0) continue;
      if (!this.#emitter.rows(root, rows, page, { page: place.page, row })) return false;
      row += rows.length;
      this.#append(out);
    }
    return true;
  }

  /**
   * Returns a function that undoes what a failed attempt to write a page has learned of extra columns; the next attempt
   * learns it again.
   */
  #remember(): () => void {
    const aliases = [...this.#aliases];
    const count = this.#events.length;
    const known = new Map([...this.#tables.values()].map((table) => [table, table.extras.copy()]));
    return () => {
      this.#aliases.clear();
      for (const [key, name] of aliases) this.#aliases.set(key, name);
      this.#events.length = count;
      for (const table of this.#tables.values())
        table.extras = known.get(table) ?? this.#newExtras(table.plan);
    };
  }

  /**
   * Tells whether the kind of the records is known: writing records of an unknown kind is useless, and would name extra
   * columns as those of scalars.
   */
  #isKnown(dataType: string): boolean {
    const kind = this.#structure.types.get(dataType)?.kind;
    return kind !== undefined && kind !== 'null';
  }

  #plan(dataType: string): ItemPlan {
    const cached = this.#plans.get(dataType);
    if (cached !== undefined && cached.version === this.#structure.version) return cached.plan;
    const plan = planOf(this.#structure, this.#structure.type(dataType));
    this.#plans.set(dataType, { plan, version: this.#structure.version });
    this.#lines.reset();
    return plan;
  }

  #learn(page: PageRows, chunks: Iterable<readonly Json[]>, index: number): void {
    this.#structure.page = index;
    this.#structure.learn(page.dataType, chunks);
    this.#structure.nameColumns(page.dataType);
  }

  /** Returns the table of a plan; it is created when its first rows come. */
  #open(plan: ItemPlan, extra: AnyObject): OpenTable {
    const out = this.#out;
    if (out === undefined) throw new Error('a table was opened before there was a page');
    const known = this.#tables.get(plan.node);
    const table = known ?? this.#newTable(plan);
    table.plan = plan;
    const before = table.extras.size;
    const pageExtras = table.extras.page(extra);
    if (table.extras.learned !== undefined && !this.#rewriting)
      this.#events.push({ node: plan.node, extra, names: table.extras.learned });
    table.pageExtras = pageExtras;
    if (known === undefined) {
      this.#tables.set(plan.node, table);
      this.#openFile(table, out);
    } else if (table.extras.size > before && !this.#rewriting) this.#change(table, this.#page - 1, out);
    if (this.#rewriting) this.#headFile(table, out);
    return table;
  }

  #openFile(table: RecordTable, out: TableOutput): void {
    const { file, plan, name } = table;
    if (file.owner !== plan.node) return;
    const columns = columnsOf(table);
    file.columns = columns;
    out.open({ name, columns });
    // Rows of earlier pages, whose lone values are lists now, will go in front of these.
    if (plan.staleBefore > 0 && !this.#rewriting) out.relayout({ name, columns });
  }

  /** Makes the first table that is written again to a mixed file the owner of the header. */
  #headFile(table: RecordTable, out: TableOutput): void {
    const { file, node, name } = table;
    if (!file.isMixed) return;
    file.isMixed = false;
    if (file.owner === node) return;
    file.owner = node;
    file.columns = columnsOf(table);
    out.relayout({ name, columns: file.columns });
  }

  #newTable(plan: ItemPlan): RecordTable {
    const name = safeName(plan.path);
    const shared = [...this.#tables.values()].find((other) => other.name === name);
    const file = shared?.file ?? {
      owner: plan.node,
      columns: [],
      staleBefore: plan.staleBefore,
      rows: 0,
      isMixed: false,
    };
    return {
      name,
      node: plan.node,
      plan,
      extras: this.#newExtras(plan),
      file,
      pageExtras: { cells: [], entries: [] },
    };
  }

  #newExtras(plan: ItemPlan, final?: TableExtras): TableExtras {
    const has = (key: string): boolean => plan.row.index.has(key);
    return new TableExtras({
      aliases: this.#aliases,
      hasProperty: has,
      scope: plan.scope,
      ...(final === undefined ? {} : { final }),
    });
  }

  /** Marks tables of a type whose columns changed as stale up to the page. */
  #relayout(dataType: string, index: number, out: TableOutput): void {
    for (const plan of itemPlans(this.#plan(dataType))) {
      const table = this.#tables.get(plan.node);
      if (table === undefined) continue;
      const same = sameLayout(table.plan, plan);
      table.plan = plan;
      if (!same) this.#change(table, index, out);
    }
  }

  /** Marks files that several lists share as stale as a whole when one of the lists was a lone value at first. */
  #mixShared(out: TableOutput): void {
    const plans = [...this.#structure.types.keys()].flatMap((dataType) => [
      ...itemPlans(this.#plan(dataType)),
    ]);
    const mixed = mixedNames(plans);
    for (const table of this.#tables.values()) {
      const { file, name } = table;
      if (file.isMixed || !mixed.has(name)) continue;
      this.#change(table, this.#page, out);
      file.isMixed = true;
      file.staleBefore = this.#page;
    }
  }

  #change(table: RecordTable, index: number, out: TableOutput): void {
    const { file, name } = table;
    if (file.owner === table.node) file.columns = columnsOf(table);
    if (file.rows > 0) file.staleBefore = index;
    out.relayout({ name, columns: file.columns });
  }

  /**
   * Names the extra columns as they are named when all data columns are known, and compares. Returns the page up to
   * which something must be written again.
   */
  #staleness(out: TableOutput): number {
    const aliases: Aliases = new Map();
    const finals = new Map<StructureNode, TableExtras>();
    let renamed = false;
    for (const { node, extra, names } of this.#events) {
      const table = this.#tables.get(node);
      if (table === undefined) continue;
      const { row, scope } = table.plan;
      let extras = finals.get(node);
      extras ??= new TableExtras({ aliases, hasProperty: (key) => row.index.has(key), scope });
      finals.set(node, extras);
      extras.page(extra);
      if (extras.learned !== names) renamed = true;
    }
    let stale = 0;
    for (const table of this.#tables.values()) {
      table.extras = finals.get(table.node) ?? table.extras;
      const { file, node } = table;
      const moved = file.owner === node && columnsOf(table).join('\n') !== file.columns.join('\n');
      if (renamed || moved) this.#change(table, this.#page, out);
      stale = Math.max(stale, file.staleBefore);
    }
    return stale;
  }
}

/** Links of lists are text, and so are extra columns. */
function typedColumns({ plan: { row }, extras }: RecordTable): readonly TypedColumn[] {
  const cells = seenCells(row);
  return [
    ...row.headers.map((name, i) => ({
      name,
      type: cells[i]?.type ?? ('text' as const),
      widened: cells[i]?.widenings ?? [],
    })),
    ...extras.headers.map((name) => ({ name, type: 'text' as const, widened: [] })),
  ];
}
