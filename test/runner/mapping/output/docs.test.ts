// @module-tag thorough
import { expect, test } from 'vitest';
import type { Json } from '../../../../src/lib/json/index.ts';
import { textOf } from '../../../storage/client/support.ts';
import { readPage, type Block } from '../../../repository/docs/markdown.ts';
import { useWorld } from './support.ts';

const world = useWorld();

/** Sections that show files of `out/` and the tables that come of them. */
const examples = Map.groupBy(readPage('docs/storage-mapping.md').blocks, ({ section }) => section);
for (const [section, blocks] of examples)
  if (!blocks.some((block) => placeOf(block).startsWith('out/'))) examples.delete(section);

test.each([...examples])(
  '%s: the example in the documentation makes the tables it shows',
  async (_section, blocks) => {
    const files = blocks.filter((block) => placeOf(block).startsWith('out/'));
    const out = await world.out(
      Object.fromEntries(files.map((block) => [placeOf(block).slice('out/'.length), `${block.text}\n`])),
    );
    const mapping = blocks.find((block) => block.language === 'json' && placeOf(block) === 'mapping');
    const given: Json = mapping === undefined ? {} : (JSON.parse(mapping.text) as Json); // it is JSON
    const { tables } = await world.push(out, { mapping: given });
    const shown = blocks.filter((block) => placeOf(block).startsWith('in.c-'));
    const client = world.client();
    for (const block of shown) {
      const rows = await client.tables.read(placeOf(block), { orderBy: [{ column: 'id' }] });
      expect(await textOf(rows)).toBe(`${block.text}\n`);
    }
    expect(tables.map(({ destination }) => destination).toSorted()).toEqual(shown.map(placeOf).toSorted());
  },
);

test('there are examples to run', () => {
  expect([...examples.keys()]).toEqual([
    'Output mapping',
    'Two files, one of them mapped',
    'A table in slices',
  ]);
});

function placeOf({ words }: Block): string {
  return words[0] ?? '';
}
