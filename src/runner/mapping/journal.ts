import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { MappingError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json/index.ts';
import { writeFileAtomic } from '../../engine/sink/atomic.ts';
import { journalText, readJournal } from './journal-format.ts';
import type { FileEntry, JournalDocument, PushTarget, JournalTable } from './journal-document.ts';
import type { Origin, ProcessedFile } from './mapping-types.ts';

export type * from './journal-document.ts';

/** Target and origin of a push: written down together with the output. */
export interface JournalSeed {
  /** Random id of this push. */
  readonly id?: string | undefined;
  readonly target: PushTarget;
  readonly origin: Origin;
  /** The `storage` part of the state to keep when all is pushed. */
  readonly inputState?: Json | undefined;
  readonly processedTags?: readonly ProcessedFile[] | undefined;
  /** True when the state of the run is kept when all is pushed; that of a trial is not. Default: true. */
  readonly movesState?: boolean | undefined;
  readonly outputBucket?: string | undefined;
}

/** The journal of one push: `push.json` beside `tables/` and `files/`. Every change is on disk when it returns. */
export interface Journal {
  readonly file: string;
  readonly document: JournalDocument;
  /** Returns the entry of a table; empty when nothing was begun. */
  table(key: string): JournalTable;
  /** Changes some of an entry; `undefined` removes. */
  updateTable(key: string, changes: JournalTable): void;
  updateFile(source: string, changes: FileEntry): void;
  /** Forgets a file that the service does not have as it was written down. */
  resetFile(source: string): void;
  /** Forgets how far a table is: it is pushed anew. Whether this push makes the table stays known. */
  resetTable(key: string): void;
  /** Marks the push as complete, with its state stored. */
  finish(): void;
}

const JOURNAL_NAME = 'push.json';

/**
 * Puts a journal into a folder that is about to be published as `out/`, so that both appear together.
 *
 * @throws {SinkError} `output.failed`
 */
export function beginJournal(folder: string, seed: JournalSeed): void {
  startJournal(folder, seed);
}

/** Starts the journal of an output, in place of an existing one. */
export function startJournal(out: string, seed: JournalSeed): Journal {
  const { id, target, origin, inputState, processedTags = [], movesState = true, outputBucket } = seed;
  const started = { id, target, origin, inputState, processedTags, movesState, outputBucket };
  const journal = journalAt(path.join(out, JOURNAL_NAME), {
    status: 'pending',
    ...started,
    tables: new Map(),
    files: new Map(),
  });
  journal.save();
  return journal;
}

/**
 * Opens the journal of an output; undefined when it has none.
 *
 * @throws {MappingError} `push.journal` for one that cannot be read
 */
export function openJournal(out: string): Journal | undefined {
  const file = path.join(out, JOURNAL_NAME);
  const text = readText(file);
  return text === undefined ? undefined : journalAt(file, readJournal(text, file));
}

/** Forgets a push that was not brought to its end. @returns whether there was one */
export function discardJournal(out: string): boolean {
  const journal = openJournal(out);
  if (journal?.document.status !== 'pending') return false;
  rmSync(journal.file);
  return true;
}

function journalAt(file: string, begun: JournalDocument): Journal & { save(): void } {
  const tables = new Map(begun.tables);
  const files = new Map(begun.files);
  let document: JournalDocument = { ...begun, tables, files };
  const save = (): void => writeFileAtomic(file, journalText(document), 0o600);
  return {
    file,
    get document() {
      return document;
    },
    table: (key) => tables.get(key) ?? {},
    updateTable(key, changes) {
      tables.set(key, { ...tables.get(key), ...changes });
      save();
    },
    updateFile(source, changes) {
      files.set(source, { ...files.get(source), ...changes });
      save();
    },
    resetFile(source) {
      const { round = 0 } = files.get(source) ?? {};
      files.set(source, { round: round + 1 });
      save();
    },
    resetTable(key) {
      const { newTable, round = 0 } = tables.get(key) ?? {};
      tables.set(key, { newTable, round: round + 1 });
      save();
    },
    finish() {
      document = { ...document, status: 'done' };
      save();
    },
    save,
  };
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new MappingError('push.journal', 'The journal of the push cannot be read.', {
      where: { file },
      cause: error,
      hint: 'Check the permissions of the data folder.',
    });
  }
}
