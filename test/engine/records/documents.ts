import * as fc from 'fast-check';

const NAMES = ['id', 'a', 'b', 'a_b', 'č', 'tags', 'box', '__proto__', '10', 'say "hi"', ''];

/** Names without escapes and those that an object would move. */
const USUAL_NAMES = ['id', 'a', 'b', 'a_b', 'č', 'tags', 'the time at which it was ordered'];

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
  fc.constantFrom('"2024-02-29"', '"2024-02-29T10:00:00Z"', '"2024-02-29 10:00:00.5"', '9007199254740993'),
  fc.constantFrom('true', 'false', 'null'),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.string().map((text) => JSON.stringify(text)),
  fc.string({ minLength: 12, maxLength: 60 }).map((text) => JSON.stringify(text)),
);

/** Literals that the plain parse reads exactly. */
const plainLiterals = fc.oneof(
  fc.constantFrom('0', '7', '-12.5', '0.50', '0.0001', '0.001', '-0.0125', '123456789012345', '1234.0000001'),
  fc.constantFrom(
    '"x"',
    '"say \\"hi\\""',
    '"č,"',
    '""',
    '"\\u010d\\t"',
    '"a\\/b\\\\\\b\\f\\n\\r\\t"',
    '"2024"',
  ),
  fc.constantFrom('true', 'false', 'null'),
  fc.integer().map(String),
  fc.string({ maxLength: 60 }).map((text) => JSON.stringify(text)),
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

function fieldsOf(depth: number, names: readonly string[] = NAMES): fc.Arbitrary<Shape> {
  return fc
    .uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 5 })
    .chain((some) => fc.tuple(...some.map((name) => fc.tuple(fc.constant(name), shapes(depth)))))
    .map((fields) => ({ fields }));
}

/**
 * JSON text of a value of a shape: any names left out, and, unless all is to be usual, in any order, or there twice, with
 * any literals.
 */
function texts(shape: Shape, isUsual = false): fc.Arbitrary<string> {
  if (shape === 'scalar') return isUsual ? plainLiterals : literals;
  if ('list' in shape) {
    const item = texts(shape.list, isUsual);
    const list = fc
      .tuple(fc.array(item, { maxLength: 3 }), spaces)
      .map(([items, space]) => `[${space}${items.join(`${space},${space}`)}${space}]`);
    return fc.oneof({ weight: 4, arbitrary: list }, { weight: 1, arbitrary: item });
  }
  const field = shape.fields.map(([name, inner]) =>
    fc.tuple(
      fc.constantFrom(JSON.stringify(name), JSON.stringify(name), escaped(name)),
      texts(inner, isUsual),
      spaces,
    ),
  );
  const object = fc
    .oneof(
      { weight: 4, arbitrary: fc.subarray(field) },
      { weight: 2, arbitrary: fc.constant(field) },
      ...(isUsual
        ? []
        : [
            { weight: 1, arbitrary: fc.shuffledSubarray(field) },
            { weight: 1, arbitrary: fc.subarray([...field, ...field.slice(0, 1)]) },
          ]),
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

/** A character that is lost or wrong, now and then. */
const mistakes = fc.oneof(
  { weight: 11, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.tuple(fc.nat(), fc.constantFrom('', ',', '}', '"', '1')) },
);

function documentOf(rows: readonly string[], mistake: readonly [number, string] | undefined): string {
  const text = `{"data":[${rows.join(',')}]}`;
  if (mistake === undefined) return text;
  const at = mistake[0] % text.length;
  return text.slice(0, at) + mistake[1] + text.slice(at + 1);
}

/** Documents of several pages. */
export const documents = fieldsOf(2).chain((shape) =>
  fc.array(
    fc
      .tuple(fc.array(texts(shape), { maxLength: 5 }), mistakes)
      .map(([rows, mistake]) => documentOf(rows, mistake)),
    { minLength: 2, maxLength: 5 },
  ),
);

/** Documents of several pages whose rows are so many that they are read and written many at once. */
export const largeDocuments = fc
  .oneof(
    { weight: 6, arbitrary: fieldsOf(0, USUAL_NAMES).map((shape) => texts(shape, true)) },
    { weight: 1, arbitrary: fieldsOf(0).map((shape) => texts(shape)) },
    { weight: 1, arbitrary: fieldsOf(2).map((shape) => texts(shape)) },
  )
  .chain((row) =>
    fc.array(
      fc
        .tuple(
          fc.array(row, { minLength: 1, maxLength: 30 }),
          fc.constantFrom(9_000, 20_000, 70_000, 150_000),
          mistakes,
        )
        .map(([rows, bytes, mistake]) => {
          const times = Math.ceil(bytes / (rows.join().length + 1));
          return documentOf(Array.from({ length: Math.min(times, 500) }, () => rows).flat(), mistake);
        }),
      { minLength: 2, maxLength: 3 },
    ),
  );
