import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { ExtractorError } from '../../../../src/lib/errors.ts';
import { importAirbyte } from '../../../../src/authoring/importing/airbyte/index.ts';
import { times } from '../../../support/sample.ts';

const FOLDER = fileURLToPath(new URL('../manifests', import.meta.url));
const TEXTS = readdirSync(FOLDER).map((name) => readFileSync(path.join(FOLDER, name), 'utf8'));

type Node = null | boolean | number | string | Node[] | { [key: string]: Node };

const STRANGE: fc.Arbitrary<Node> = fc.constantFrom<Node[]>(
  null,
  true,
  0,
  -1,
  '',
  'x',
  '{{',
  '{{ }}',
  '{{ a.b }}',
  "{{ config['x'] }}",
  '{% for x in y %}',
  '#/nowhere',
  '#/streams',
  '{{ record.x | nosuch }}',
  '{{ 1 / 0 }}',
  '{{ parameters }}',
  '*',
  '../../..',
  '\u0000',
  [],
  {},
  [[]],
  [{}],
  { type: 'X' },
  { $ref: '#/streams/0' },
  { $ref: '#/check' },
  { $parameters: { path: { type: 'HttpRequester' } } },
  { type: [] },
  { class_name: 'a.B' },
);

/** Change to a manifest: its place as a share of all places, the kind of change, and the new value. */
const MUTATION = fc.tuple(
  fc.double({ min: 0, max: 0.999, noNaN: true }),
  fc.constantFrom('replace', 'remove'),
  STRANGE,
);

/** A manifest with any change is either imported with a report, or refused with a message for the user. */
describe('a manifest that is wrong', () => {
  test.each(TEXTS.map((text, i) => [i, text] as const))('never crashes the import (%i)', (_, text) => {
    fc.assert(
      fc.property(fc.array(MUTATION, { minLength: 1, maxLength: 4 }), (mutations) => {
        const manifest = parse(text, { merge: true }) as Node;
        for (const mutation of mutations) mutate(manifest, mutation);
        survives(stringify(manifest));
      }),
      { numRuns: times(15) },
    );
  });

  test('also not as a text with holes', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...TEXTS),
        fc.nat(4000),
        fc.nat(40),
        fc.string({ maxLength: 6 }),
        (text, at, length, put) => {
          survives(text.slice(0, at) + put + text.slice(at + length));
        },
      ),
      { numRuns: times(60) },
    );
  });

  test.each([
    ['', 'a map of keys'],
    ['[1, 2]', 'a map of keys'],
    ['a: [1', 'no YAML'],
    ['version: 1', 'no streams'],
    ['streams: [3]', 'not a map'],
    ['streams: ["#/streams/0"]', 'circle'],
    ['streams: ["#/nothing"]', 'leads nowhere'],
    ['a: &a [1]\nb: &b [*a, *a]\nstreams: [*b]', 'not a map'],
  ])('%j is refused', (text, message) => {
    expect(() => importAirbyte(text, { file: 'manifest.yaml' })).toThrow(ExtractorError);
    expect(() => importAirbyte(text, { file: 'manifest.yaml' })).toThrow(message);
  });
});

/** Files of 1 MB that no tool has written. */
describe('a hostile manifest', () => {
  const chain = Array.from({ length: 20_000 }, (_, i) => `  - {$ref: "#/streams/${i + 1}"}`);
  const doubling = Array.from(
    { length: 40 },
    (_, i) => `  a${i + 1}: ["#/definitions/a${i}", "#/definitions/a${i}"]`,
  );
  test.each([
    ['brackets', `a: ${'['.repeat(1_000_000)}`, 'nested too deep'],
    ['brackets that are closed', `a: ${'['.repeat(500_000)}${']'.repeat(500_000)}`, 'nested too deep'],
    ['blocks', '- '.repeat(500_000), 'nested too deep'],
    ['spaces', Array.from({ length: 1000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), 'nested too deep'],
    ['a chain of references', `streams:\n${chain.join('\n')}`, 'nested too deep'],
    [
      'references that double',
      `streams: ["#/definitions/a40"]\ndefinitions:\n  a0: 1\n${doubling.join('\n')}`,
      'multiply',
    ],
  ])('is refused: %s', { tags: 'thorough' }, (_, text, message) => {
    const start = process.cpuUsage();
    expect(() => importAirbyte(text, { file: 'manifest.yaml' })).toThrow(message);
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1e6).toBeLessThan(20);
  });
});

function survives(text: string): void {
  try {
    const { report } = importAirbyte(text, { file: 'manifest.yaml' });
    for (const { outcome, reasons } of report.streams) {
      if (outcome === 'not') expect(reasons.length).toBeGreaterThan(0);
      for (const { message } of reasons) expect(message).not.toMatch(/^Not understood/);
    }
  } catch (error) {
    if (!(error instanceof ExtractorError)) throw error;
    expect(error.code).toBe('import.invalid');
  }
}

function mutate(root: Node, [share, kind, value]: readonly [number, string, Node]): void {
  const places: (() => void)[] = [];
  const walk = (node: Node): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      const map = node as { [key: string]: Node };
      places.push(() => {
        if (kind === 'remove' && !Array.isArray(node)) delete map[key];
        else map[key] = value;
      });
      walk(map[key] ?? null);
    }
  };
  walk(root);
  places[Math.floor(share * places.length)]?.();
}
