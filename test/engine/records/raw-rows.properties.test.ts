import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { rawChunks } from '../../../src/engine/extract/content.ts';
import { createAutomaticParser } from '../../../src/engine/records/automatic.ts';
import { readPage } from '../../../src/engine/records/page.ts';
import type { PageRows } from '../../../src/engine/records/parser.ts';
import type { SeenRows } from '../../../src/engine/shared/seen-rows.ts';
import { RecordError } from '../../../src/lib/errors.ts';
import { compilePath, encodeExact, getKey, isObject, type AnyObject } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { times } from '../../support/sample.ts';
import { writtenBy } from './written.ts';

const NAMES = ['id', 'a', 'b', 'a_b', 'č', 'tags', 'box', '__proto__', '10', 'say "hi"', ''];

/** Literals as documents have them: some are written otherwise in a cell, and some only an exact parser reads. */
const literals = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '7',
    '-12.5',
    '0.50',
    '1.0',
    '1e3',
    '0.0001',
    '0.00000012',
    '12345678901234567890',
  ),
  fc.constantFrom(
    '"x"',
    '"say \\"hi\\""',
    '"č,"',
    '""',
    '"\\u010d\\t"',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"a/b"',
  ),
  fc.constantFrom('true', 'false', 'null'),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.string().map((text) => JSON.stringify(text)),
);

const spaces = fc.constantFrom('', '', '', ' ', '\n  ');

type Shape = 'scalar' | { readonly list: Shape } | { readonly fields: readonly (readonly [string, Shape])[] };

function shapes(depth: number): fc.Arbitrary<Shape> {
  const scalar = fc.constant<Shape>('scalar');
  if (depth === 0) return scalar;
  const fields = fieldsOf(depth - 1);
  return fc.oneof(
    { weight: 4, arbitrary: scalar },
    { weight: 2, arbitrary: fields },
    { weight: 2, arbitrary: fc.oneof(scalar, fields).map((list): Shape => ({ list })) },
  );
}

function fieldsOf(depth: number): fc.Arbitrary<Shape> {
  return fc
    .uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 5 })
    .chain((names) => fc.tuple(...names.map((name) => fc.tuple(fc.constant(name), shapes(depth)))))
    .map((fields) => ({ fields }));
}

/** JSON text of a value of a shape: names in their order or not, any of them left out, or there twice. */
function texts(shape: Shape): fc.Arbitrary<string> {
  if (shape === 'scalar') return literals;
  if ('list' in shape) {
    const item = texts(shape.list);
    const list = fc
      .tuple(fc.array(item, { maxLength: 3 }), spaces)
      .map(([items, space]) => `[${space}${items.join(`${space},${space}`)}${space}]`);
    return fc.oneof({ weight: 4, arbitrary: list }, { weight: 1, arbitrary: item });
  }
  const field = shape.fields.map(([name, inner]) =>
    fc.tuple(
      fc.constantFrom(JSON.stringify(name), JSON.stringify(name), escaped(name)),
      texts(inner),
      spaces,
    ),
  );
  const object = fc
    .oneof(
      { weight: 4, arbitrary: fc.subarray(field) },
      { weight: 2, arbitrary: fc.constant(field) },
      { weight: 1, arbitrary: fc.shuffledSubarray(field) },
      { weight: 1, arbitrary: fc.subarray([...field, ...field.slice(0, 1)]) },
    )
    .chain((some) => fc.tuple(...some))
    .map((entries) => {
      const [, , space = ''] = entries[0] ?? [];
      return `{${space}${entries.map(([name, text, around]) => `${name}${around}:${space}${text}`).join(`${space},${space}`)}${space}}`;
    });
  return fc.oneof({ weight: 8, arbitrary: object }, { weight: 1, arbitrary: fc.constant('null') });
}

/** A name with an escape that it does not need. */
function escaped(name: string): string {
  const [first = ''] = name;
  return first === 'a' ? `"\\u0061${name.slice(1)}"` : JSON.stringify(name);
}

/** Documents of several pages; now and then a character is lost or wrong. */
const documents = fieldsOf(2).chain((shape) =>
  fc.array(
    fc
      .tuple(
        fc.array(texts(shape), { maxLength: 5 }),
        fc.option(fc.tuple(fc.nat(), fc.constantFrom('', ',', '}', '"', '1')), { freq: 12, nil: undefined }),
      )
      .map(([rows, mistake]) => {
        const text = `{"data":[${rows.join(',')}]}`;
        if (mistake === undefined) return text;
        const at = mistake[0] % text.length;
        return text.slice(0, at) + mistake[1] + text.slice(at + 1);
      }),
    { minLength: 2, maxLength: 5 },
  ),
);

const looks = fc.constantFrom({}, { words: { null: 'null', true: 'yes "', false: 'no' } }, { unique: '17' });

interface Outcome {
  readonly tables: object;
  readonly error: string | undefined;
}

interface Use {
  readonly isRaw: boolean;
  readonly look: NonNullable<PageRows['look']>;
  readonly extra: AnyObject;
  readonly seen?: string[];
}

/** Ids of rows as they are read by themselves, and in the decoded rows. */
function idsOf(rows: SeenRows): string[] {
  const read = rows.property('id');
  if (read === undefined) return [];
  return Array.from({ length: rows.length }, (_, i) => {
    const row = rows.at(i);
    const id = isObject(row) ? getKey(row, 'id') : undefined;
    return JSON.stringify([read(i) ?? null, id ?? null]);
  });
}

async function outcome(documents: readonly string[], { isRaw, look, extra, seen }: Use): Promise<Outcome> {
  const parser = createAutomaticParser({ log: silentLog });
  try {
    const pages = documents.map((text): PageRows => {
      const { pieces, rows } = readPage(Buffer.from(text), {
        dataField: compilePath('data'),
        endpoint: 'books',
        describeUrl: () => '',
        redact: (shown) => shown,
      });
      const chunks = isRaw ? rawChunks(pieces) : undefined;
      return {
        dataType: 'books',
        extra,
        look,
        count: rows,
        chunks: () => pieces.map((piece) => piece.decode()),
        ...(chunks === undefined
          ? {}
          : { raw: { chunks, wanted: () => ['id'], see: (_, each) => void seen?.push(...idsOf(each)) } }),
      };
    });
    const tables = Object.fromEntries(await writtenBy(parser, pages));
    return { tables: { ...tables, struct: encodeExact(parser.struct ?? null) }, error: undefined };
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    return { tables: {}, error: error.message };
  }
}

/** An extra column is renamed for a property that comes late, and the first page is written again. */
const RENAMED: [string[], NonNullable<PageRows['look']>, AnyObject] = [
  ['{"data":[{"say \\"hi\\"":"","a":["x"]}]}', '{"data":[{"id":0,"say \\"hi\\"":0,"a":[]}]}'],
  {},
  { id: 5, a_b: 'y' },
];

test(
  'rows written from their bytes are as those that were decoded, and so is what is said of wrong ones',
  { timeout: 120_000 },
  async () => {
    const extras = fc.constantFrom({}, { tag: 'x' }, { id: 5, a_b: 'y' });
    await fc.assert(
      fc.asyncProperty(documents, looks, extras, async (list, look, extra) => {
        const seen: string[] = [];
        const raw = await outcome(list, { isRaw: true, look, extra, seen });
        expect(raw).toEqual(await outcome(list, { isRaw: false, look, extra }));
        for (const each of seen) {
          const [read, decoded] = JSON.parse(each) as [unknown, unknown];
          expect(read).toEqual(decoded);
        }
      }),
      { numRuns: times(600), examples: [RENAMED] },
    );
  },
);
