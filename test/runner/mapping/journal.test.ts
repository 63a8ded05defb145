import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { MappingError } from '../../../src/lib/errors.ts';
import { encodeExact, parseExact } from '../../../src/lib/json/index.ts';
import {
  beginJournal,
  openJournal,
  startJournal,
  type JournalSeed,
} from '../../../src/runner/mapping/journal.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'journal-'));
  folders.push(made);
  return made;
}

const SEED: JournalSeed = {
  target: { project: '1@2026-11-21T10:00:00+0000', address: './storage' },
  origin: { component: 'ex-generic-v2', configuration: '42', row: 'users', isStored: true },
  inputState: parseExact('{"10":1,"9":12345678901234567890,"n":1.0}'),
  processedTags: [{ fileId: 1, tags: ['done'] }],
  movesState: false,
};

describe('a journal', () => {
  test('keeps what it was begun with, exactly', () => {
    const out = folder();
    beginJournal(out, SEED);
    const { document } = openJournal(out) ?? {};
    expect(document).toMatchObject({ ...SEED, status: 'pending', inputState: expect.anything() as unknown });
    expect(encodeExact(document?.inputState ?? null)).toBe('{"10":1,"9":12345678901234567890,"n":1.0}');
    expect(readdirSync(out)).toEqual(['push.json']);
  });

  test('has every step on disk at once, whatever the names of the sources', () => {
    const out = folder();
    const { inputState: _, processedTags: __, movesState: ___, ...least } = SEED;
    const journal = startJournal(out, least);
    const reread = () => openJournal(out)?.document;
    expect(reread()).toMatchObject({ inputState: undefined, processedTags: [], movesState: true });
    for (const name of ['users.csv', '__proto__', '10', '9', 'two words']) {
      journal.updateTable(name, { destination: 'in.c-a.b', fileId: 5 });
      expect(reread()?.tables.get(name)).toEqual({ destination: 'in.c-a.b', fileId: 5 });
      journal.updateTable(name, { isUploaded: true, fileId: undefined });
      journal.updateFile(name, { fileId: 7, done: true });
      expect(reread()?.tables.get(name)).toEqual({ destination: 'in.c-a.b', isUploaded: true });
      expect(reread()?.files.get(name)).toEqual({ fileId: 7, done: true });
    }
    expect(reread()?.tables.size).toBe(5);
    journal.updateTable('10', { newTable: true });
    journal.resetTable('10');
    expect(reread()?.tables.get('10')).toEqual({ newTable: true, round: 1 });
    expect(journal.table('never')).toEqual({});
    journal.finish();
    expect(reread()?.status).toBe('done');
    expect(reread()?.tables.size).toBe(5);
  });

  test('that is not there is none', () => {
    expect(openJournal(folder())).toBeUndefined();
    expect(openJournal(path.join(folder(), 'no', 'folder'))).toBeUndefined();
  });

  test.each([
    ['half', (text: string) => text.slice(0, 40), 'The journal of the push is damaged: it is no JSON.'],
    ['nothing', () => '', 'The journal of the push is damaged: it is no JSON.'],
    ['a list', () => '[]', 'The journal of the push is damaged: it has no'],
    [
      'wrong in one place',
      (text: string) => text.replace('"pending"', '"maybe"'),
      'The journal of the push is damaged: status must be one of “pending”, “done”.',
    ],
    [
      'newer',
      (text: string) => text.replace('"version":1', '"version":2'),
      'The journal of the push is of version 2; this program knows version 1.',
    ],
  ])('that is %s is an error with its place', (_, change, message) => {
    const out = folder();
    beginJournal(out, SEED);
    const file = path.join(out, 'push.json');
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    const error = errorOf(() => openJournal(out));
    expect(error).toMatchObject({ code: 'push.journal', where: { file } });
    expect(error.message).toContain(message);
  });

  test('that cannot be read is an error, too', () => {
    const out = folder();
    writeFileSync(path.join(out, 'out'), '');
    expect(errorOf(() => openJournal(path.join(out, 'out'))).code).toBe('push.journal');
  });
});

function errorOf(work: () => unknown): MappingError {
  try {
    work();
  } catch (error) {
    if (error instanceof MappingError) return error;
    throw error;
  }
  throw new Error('It did not fail.');
}
