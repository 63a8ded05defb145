import { MappingError, StorageError } from '../../../lib/errors.ts';
import type { Journal } from '../journal.ts';
import type { MappingContext, Pushed, PushedFile, PushedTable } from '../mapping-types.ts';
import { pushFailed, type Failed } from './failure.ts';
import { loadTable } from './load/load-table.ts';
import { planOutputs } from './plan/plan.ts';
import type { OutputPlan, PlannedOutputTable, PlannedOutputFile } from './plan/planned.ts';
import { stepKey, type Pushing } from './pushing.ts';
import { trustFile } from './load/trust.ts';
import { removeUpload, upload } from './load/upload.ts';

export interface PushOptions extends MappingContext {
  /** The folder with `tables/`, `files/` and the journal. */
  readonly out: string;
  readonly journal: Journal;
  /** `config.outputBucket` as it was in the run, and as it is now. */
  readonly movedBucket?: { readonly from: string; readonly to: string } | undefined;
}

/** Tables and files that are pushed at a time. */
const LANES = 4;

/**
 * Pushes what a run left behind, or the rest of it when an earlier push was interrupted. All imports have ended when it
 * returns. It does not finish the journal: state and tags come first.
 *
 * One that fails does not keep the others from being pushed, unless the service itself cannot be used.
 *
 * @throws {MappingError} `push.invalid` before anything is pushed; `push.failed` with what is done and what is not
 */
export async function pushOutputs(options: PushOptions): Promise<Pushed> {
  const { signal, log } = options;
  const plan = await planOutputs({ ...options, moved: movedIn(options) });
  for (const warning of plan.warnings) log.warn(warning);
  const pushing: Pushing = { ...options, buckets: new Map() };
  const queue = piecesOf(plan, pushing);
  const tables: PushedTable[] = [];
  const files: PushedFile[] = [];
  const failed: Failed[] = [];
  let isOver = false;
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [piece, ...others] = next;
      if (piece === undefined) continue;
      try {
        if (isOver) throw new NotTried();
        const { table, file } = await piece.push();
        if (table !== undefined) tables.push(table);
        if (file !== undefined) files.push(file);
        // The next one of the same table goes on in this lane.
        if (others.length > 0) queue.unshift(others);
      } catch (error) {
        failed.push(
          ...[piece, ...others].map(({ what }, i) => ({ what, error: i === 0 ? error : new NotTried() })),
        );
        isOver ||= signal.aborted || isHopeless(error);
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  signal.throwIfAborted();
  const pushed = { tables: tables.toSorted(bySource), files: files.toSorted(bySource) };
  if (failed.length === 0) return pushed;
  const [left = [], tried = []] = [true, false].map((isLeft) =>
    failed.filter(({ error }) => error instanceof NotTried === isLeft),
  );
  throw pushFailed({ pushed, failed: tried, left: left.map(({ what }) => what) }, options);
}

/** Returns the move of destinations after `outputBucket` was renamed; tables whose push was begun stay. */
function movedIn({ movedBucket, journal, log }: PushOptions): ((destination: string) => string) | undefined {
  if (movedBucket === undefined || movedBucket.from === movedBucket.to) return undefined;
  const [from, to] = [`in.c-${movedBucket.from}.`, `in.c-${movedBucket.to}.`];
  const begun = new Set(
    [...journal.document.tables.values()]
      .filter(({ asked, done }) => asked === true || done === true)
      .map(({ destination }) => destination),
  );
  log.info(`The output bucket has changed since the run: what is left goes to in.c-${movedBucket.to}`);
  return (destination) =>
    destination.startsWith(from) && !begun.has(destination)
      ? to + destination.slice(from.length)
      : destination;
}

function bySource(a: { readonly source: string }, b: { readonly source: string }): number {
  return a.source < b.source ? -1 : 1;
}

/** Behind one that failed. */
class NotTried extends Error {}

interface Piece {
  readonly what: string;
  push(): Promise<{ readonly table?: PushedTable; readonly file?: PushedFile }>;
}

/**
 * Returns groups of pieces that can be pushed in parallel: the sources of one table form a sequence, in the order of
 * their names.
 */
function piecesOf(plan: OutputPlan, push: Pushing): (readonly Piece[])[] {
  const keyOf = keysOf(plan.tables, push.journal);
  const tables = [...Map.groupBy(plan.tables, ({ destination }) => destination).values()].map((group) =>
    group.map((table) => ({
      what: `“${table.source}” into ${table.destination}`,
      push: async () => ({ table: await loadTable(push, table, keyOf(table)) }),
    })),
  );
  const files = plan.files.map((file) => [
    { what: `the file “${file.source}”`, push: async () => ({ file: await sendFile(push, file) }) },
  ]);
  return [...tables, ...files];
}

/**
 * Returns the journal's keys of tables: an entry belongs to one source and one destination, whatever the mapping was
 * when it was written.
 */
function keysOf(
  tables: readonly PlannedOutputTable[],
  journal: Journal,
): (table: PlannedOutputTable) => string {
  const taken = new Map(
    Array.from(journal.document.tables, ([key, { destination }]) => [key, destination] as const),
  );
  const keys = new Map(
    tables.map((table) => {
      const { source, destination } = table;
      const further = `${source}/${destination}`;
      const known = [source, further].find((each) => taken.get(each) === destination);
      const key = known ?? (taken.get(source) === undefined ? source : further);
      taken.set(key, destination);
      return [table, key];
    }),
  );
  return (table) => keys.get(table) ?? table.source;
}

/** Tells whether an error would occur for every other output, too. */
function isHopeless(error: unknown): boolean {
  if (error instanceof MappingError && error.code === 'push.doubled') return false;
  if (!(error instanceof StorageError)) return true;
  return ['storage.unauthorized', 'storage.unreachable', 'storage.unexpected', 'storage.failed'].includes(
    error.code,
  );
}

/** Stores one file; one that an interrupted push had begun is taken away and begun anew. */
async function sendFile(push: Pushing, file: PlannedOutputFile): Promise<PushedFile> {
  const { journal, log } = push;
  const { source, tags, isPublic, isPermanent, isEncrypted, notify } = file;
  await trustFile(push, source);
  const { fileId, done, round = 0 } = journal.document.files.get(source) ?? {};
  if (done === true && fileId !== undefined) return { source, fileId, wasDone: true };
  if (fileId !== undefined) {
    await removeUpload(push, fileId);
    // The next file is another one, and not the answer to the earlier request: it gets another key.
    journal.updateFile(source, { fileId: undefined, fileCreated: undefined, round: round + 1 });
  }
  const attempt = journal.document.files.get(source)?.round ?? 0;
  const options = { name: source, tags, isPublic, isPermanent, isEncrypted, notify };
  const { id } = await upload(push, file, {
    ...options,
    key: stepKey(push, '', 'file', source, String(attempt)),
    onPrepared: ({ id: prepared, created }) =>
      journal.updateFile(source, { fileId: prepared, fileCreated: created }),
  });
  journal.updateFile(source, { done: true });
  log.debug(`Pushed “${source}” as the file ${id}`, { source, fileId: id, bytes: file.bytes });
  return { source, fileId: id, wasDone: false };
}
