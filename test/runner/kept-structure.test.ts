import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Log } from '../../src/lib/log.ts';
import { run } from '../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, json, put, startApi, type Answer } from '../cli/support.ts';

const shelf: Answer = ({ url }, response) => {
  if (url.pathname === '/tags') json(response, [{ tag: 'new' }]);
  else json(response, { items: [{ id: 1, note: { text: 'a' } }], notes: [{ id: 2, note: 'b' }] });
};

const withLists: Answer = (_request, response) =>
  json(response, { items: [{ id: 1, tags: [{ a: 1 }] }], notes: [{ id: 2, tags: 'none' }] });

interface Ran {
  readonly header: (table: string) => string | undefined;
  readonly lines: readonly string[];
  readonly state: Record<string, unknown>;
}

async function runAgain(folder: string): Promise<Ran> {
  const lines: string[] = [];
  const add = (message: string): void => void lines.push(message);
  const log: Log = { debug: () => {}, info: add, warn: add, error: add };
  await run({ dataFolder: folder, log });
  const files = filesOf(folder);
  return {
    header: (table) => files[`out/tables/library.${table}`]?.split('\n')[0],
    lines: lines.filter((line) => line.includes('columns')),
    state: JSON.parse(files['in/state.json'] ?? '') as Record<string, unknown>, // as the run wrote it
  };
}

async function edited(
  before: object,
  after: object,
  { config = {}, keep = [] as object[] } = {},
): Promise<{ first: Ran; second: Ran; third: Ran }> {
  const api = await startApi(shelf);
  const write = (folder: string, job: object, more: object): void =>
    put(folder, 'config.json', JSON.stringify(configOf(api, [job, ...keep], { config: more })));
  const folder = dataFolder();
  write(folder, before, {});
  const first = await runAgain(folder);
  write(folder, after, config);
  const second = await runAgain(folder);
  return { first, second, third: await runAgain(folder) };
}

const books = { endpoint: 'books', dataType: 'books' };
const told =
  'The settings of “books” have changed since the last run: the columns known from earlier runs are forgotten, and learned anew';

describe('the structure in the state', () => {
  test('begins anew with another dataField', async () => {
    const { first, second, third } = await edited(
      { ...books, dataField: 'items' },
      { ...books, dataField: 'notes' },
    );
    expect(first.header('books')).toBe('"id","note_text"');
    expect(second.header('books')).toBe('"id","note"');
    expect([first.lines, second.lines, third.lines]).toEqual([[], [told], []]);
  });

  test('begins anew with a responseFilter', async () => {
    const { second } = await edited(
      { ...books, dataField: 'items' },
      { ...books, dataField: 'items', responseFilter: 'note' },
    );
    expect(second.header('books')).toBe('"id","note"');
    expect(second.lines).toEqual([told]);
  });

  test('begins anew with another compatLevel, which is followed then', async () => {
    const { second } = await edited(
      { ...books, dataField: 'items' },
      { ...books, dataField: 'items' },
      { config: { compatLevel: 1 } },
    );
    expect(second.lines).toEqual([told]);
    expect(second.state['json_parser.structVersion']).toBe(2);
  });

  test('leaves the columns of other tables as they are known', async () => {
    const api = await startApi(shelf);
    const tags = { endpoint: 'tags', dataType: 'tags' };
    const write = (folder: string, dataField: string): void =>
      put(folder, 'config.json', JSON.stringify(configOf(api, [{ ...books, dataField }, tags])));
    const folder = dataFolder();
    write(folder, 'items');
    const { state } = await runAgain(folder);
    const struct = JSON.stringify(state).replace(
      '"_tag":{',
      '"_old":{"nodeType":"scalar","headerNames":"old"},"_tag":{',
    );
    writeFileSync(path.join(folder, 'in', 'state.json'), struct);
    write(folder, 'notes');
    const second = await runAgain(folder);
    expect([second.header('books'), second.header('tags')]).toEqual(['"id","note"', '"old","tag"']);
    expect(second.lines).toEqual([told]);
  });

  test('of the legacy parser begins anew as well, with the lists below it', async () => {
    const api = await startApi(withLists);
    const folder = dataFolder();
    const write = (dataField: string): void =>
      put(
        folder,
        'config.json',
        JSON.stringify(
          configOf(
            api,
            [
              { ...books, dataField },
              { endpoint: 'x', dataType: 'other', dataField: 'items' },
            ],
            {
              config: { compatLevel: 1 },
            },
          ),
        ),
      );
    write('items');
    await runAgain(folder);
    write('notes');
    const { state, header } = await runAgain(folder);
    expect(header('books')).toBe('"id","tags"');
    expect(Object.keys(state['json_parser.struct'] as object)).toEqual(['other.tags', 'other', 'books']);
  });

  test('of a state without settings is taken as it is', async () => {
    const api = await startApi(shelf);
    const folder = dataFolder(configOf(api, [{ ...books, dataField: 'items' }]));
    const { state } = await runAgain(folder);
    const { 'json_parser.structSettings': settings, ...old } = state;
    expect(settings).toBeDefined();
    const text = JSON.stringify(old).replace(
      '"_id":{',
      '"_old":{"nodeType":"scalar","headerNames":"old"},"_id":{',
    );
    put(folder, 'in/state.json', text);
    put(folder, 'config.json', JSON.stringify(configOf(api, [{ ...books, dataField: { path: 'items' } }])));
    const second = await runAgain(folder);
    expect(second.lines).toEqual([]);
    expect(second.header('books')).toBe('"old","id","note_text"');
    expect(second.state['json_parser.structSettings']).toEqual(settings);
  });
});
