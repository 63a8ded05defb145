import { expect, test } from 'vitest';
import { readPage, type Block } from '../../../repository/docs/markdown.ts';
import { pull, textIn, useStorage, type InputMapping } from './support.ts';

const storage = useStorage();
const blocks = readPage('docs/storage-mapping.md').blocks;
const examples = blocks.filter(({ language, words }) => language === 'json' && words[0] === 'input');

/** Blocks of the same section: tables of the storage, and files of `in/`. */
function besides({ section }: Block, isMeant: (place: string) => boolean): (readonly [string, string])[] {
  return blocks
    .filter((block) => block.section === section && block.language === 'csv')
    .map((block) => [block.words[0] ?? '', `${block.text}\n`] as const)
    .filter(([place]) => isMeant(place));
}

test.each(examples.map((example) => [example.section, example] as const))(
  '%s: the example in the documentation fetches what it shows',
  async (_section, example) => {
    const client = storage.client();
    const folder = await storage.folder();
    for (const [id, csv] of besides(example, (place) => place.startsWith('in.c-')))
      expect(await storage.table(csv, { bucket: id.split('.')[1]?.slice(2) ?? '' })).toBe(id);
    const mapping = JSON.parse(example.text) as InputMapping; // a documented one
    const { tables, files } = await pull(client, folder, mapping);
    const shown = besides(example, (place) => place.startsWith('in/'));
    for (const [place, csv] of shown) expect(textIn(folder, place.slice('in/'.length))).toBe(csv);
    expect(tables).toBe(shown.length);
    expect(files).toBe(0);
  },
);

test('there are examples to run', () => {
  expect(examples.map(({ section }) => section)).toEqual(['Input mapping', 'Input files']);
});
