import { Type } from 'typebox';
import { MappingError } from '../../lib/errors.ts';
import {
  encodeExact,
  getKey,
  isObject,
  JsonSyntaxError,
  parseExact,
  type Json,
} from '../../lib/json/index.ts';
import type { JournalDocument } from './journal-document.ts';
import { shapeOf } from './shape.ts';

const VERSION = 1;
const Flag = Type.Optional(Type.Boolean());
const Id = Type.Optional(Type.Integer());
const Text = Type.Optional(Type.String());

const TableEntry = Type.Object({
  destination: Text,
  content: Text,
  fileId: Id,
  fileName: Text,
  fileCreated: Text,
  isUploaded: Flag,
  newBucket: Flag,
  newTable: Flag,
  previousKey: Type.Optional(Type.Array(Type.String())),
  asked: Flag,
  creates: Flag,
  jobId: Id,
  jobCreated: Text,
  round: Id,
  done: Flag,
  rows: Id,
});
const FileEntry = Type.Object({ fileId: Id, fileCreated: Text, round: Id, done: Flag });

const JournalFile = Type.Object({
  version: Type.Integer(),
  id: Text,
  status: Type.Enum(['pending', 'done']),
  target: Type.Object({ project: Type.String(), address: Type.String() }),
  origin: Type.Object({
    component: Type.String(),
    configuration: Type.String(),
    row: Text,
    branch: Text,
    isStored: Type.Boolean(),
  }),
  processedTags: Type.Array(Type.Object({ fileId: Type.Integer(), tags: Type.Array(Type.String()) })),
  movesState: Type.Boolean(),
  outputBucket: Text,
  tables: Type.Record(Type.String(), TableEntry),
  files: Type.Record(Type.String(), FileEntry),
});

/** Returns the text of `push.json`. */
export function journalText(journal: JournalDocument): string {
  const { inputState = null, tables, files, ...rest } = journal;
  const head = JSON.stringify({ version: VERSION, ...rest });
  // The state keeps its numbers and the order of its keys.
  return `${head.slice(0, -1)},"tables":${textOf(tables)},"files":${textOf(files)},"inputState":${encodeExact(inputState)}}\n`;
}

/**
 * Returns the text of entries. A thousand tables are written six times each, so entries that have not changed keep
 * their text.
 */
function textOf(entries: ReadonlyMap<string, object>): string {
  const members = Array.from(entries, ([key, entry]) => {
    const text = texts.get(entry) ?? JSON.stringify(entry);
    texts.set(entry, text);
    return `${JSON.stringify(key)}:${text}`;
  });
  return `{${members.join(',')}}`;
}

const texts = new WeakMap<object, string>();

/** @throws {MappingError} `push.journal` */
export function readJournal(text: string, file: string): JournalDocument {
  const json = parsed(text, file);
  const version = isObject(json) ? getKey(json, 'version') : undefined;
  if (typeof version === 'number' && version > VERSION)
    throw new MappingError(
      'push.journal',
      `The journal of the push is of version ${version}; this program knows version ${VERSION}.`,
      { where: { file }, hint: 'Push with the version of the program that began it, or a newer one.' },
    );
  const shaped = shapeOf(JournalFile, json);
  if ('misfits' in shaped) {
    const what = shaped.misfits.map(({ path, message }) => `${path === '' ? 'it' : path} ${message}`);
    throw broken(what.join('; '), { file });
  }
  const { id, status, target, origin, processedTags, movesState, outputBucket, tables, files } = shaped.value;
  const state = isObject(json) ? getKey(json, 'inputState') : undefined;
  return {
    id,
    status,
    target,
    origin,
    inputState: state ?? undefined,
    processedTags,
    movesState,
    outputBucket,
    tables: new Map(Object.entries(tables)),
    files: new Map(Object.entries(files)),
  };
}

function parsed(text: string, file: string): Json {
  try {
    return parseExact(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw broken('it is no JSON', { file, line: error.line, column: error.column });
  }
}

function broken(why: string, where: { file: string; line?: number; column?: number }): MappingError {
  return new MappingError('push.journal', `The journal of the push is damaged: ${why}.`, {
    where,
    hint: 'Restore the file. Without it all is pushed anew, also what was pushed already: delete it only if nothing was.',
  });
}
