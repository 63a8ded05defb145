import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, test } from 'vitest';
import { generatedFiles } from '../../../scripts/generate.ts';
import { componentSchema, configSchema } from '../../../src/engine/config/schema.ts';
import { fixtureSchema } from '../../../src/engine/config/schemas/fixture.ts';
import { manifestSchema } from '../../../src/engine/config/schemas/manifest.ts';
import { stateSchema } from '../../../src/engine/config/schemas/state.ts';
import { branchesOf, isSchema, propertiesOf } from '../../../src/engine/config/validation-schema.ts';
import type { OptionSchema } from '../../../src/lib/option.ts';
import { FileManifest, TableManifest } from '../../../src/runner/mapping/output/plan/plan-options.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

describe('generated files', () => {
  let files: ReadonlyMap<string, string>;
  beforeAll(() => {
    files = generatedFiles();
  });

  test.each([
    'schemas/config.schema.json',
    'schemas/state.schema.json',
    'schemas/manifest.schema.json',
    'schemas/fixture.schema.json',
    'src/engine/config/validator.generated.ts',
    'docs/configuration.md',
  ])('%s is what `node scripts/generate.ts` writes', (path) => {
    expect(readFileSync(`${root}/${path}`, 'utf8') === files.get(path), `run: node scripts/generate.ts`).toBe(
      true,
    );
  });

  test('the reference names every key of the schema', () => {
    const reference = files.get('docs/configuration.md') ?? '';
    for (const { key } of keysOf(componentSchema)) {
      expect([key, reference.includes(`.${key}\``) || reference.includes(`| \`${key}\``)]).toEqual([
        key,
        true,
      ]);
    }
  });
});

describe('schemas for editors', () => {
  const schemas = { configSchema, stateSchema, manifestSchema, fixtureSchema };

  test.each(Object.entries(schemas))('%s is a draft-07 schema', (_name, schema) => {
    const ajv = new Ajv({ strict: false });
    expect(ajv.validateSchema(schema)).toBe(true);
    expect(schema['$schema']).toBe('http://json-schema.org/draft-07/schema#');
  });

  test.each(Object.entries(schemas))('%s describes every key', (_name, schema) => {
    for (const { key, property } of keysOf(schema)) {
      const { title, description } = property;
      expect([key, typeof title, typeof description]).toEqual([key, 'string', 'string']);
    }
  });

  test.each(Object.entries(schemas))('%s gives an example of every key', (_name, schema) => {
    for (const { key, property } of keysOf(schema))
      expect([key, 'examples' in property]).toEqual([key, true]);
  });

  test('of manifests describes every key that a push reads from one', () => {
    const known = Object.keys(propertiesOf(manifestSchema));
    const read = [TableManifest, FileManifest].flatMap(({ properties }) => Object.keys(properties));
    expect(read.filter((key) => !known.includes(key))).toEqual([]);
  });

  test('accept a configuration in both forms and refuse what is wrong', () => {
    const validate = new Ajv({ strict: false }).compile(configSchema);
    const parameters = { api: { baseUrl: 'https://x/' }, config: { jobs: [{ endpoint: 'a' }] } };
    expect(validate({ $schema: 'x', parameters })).toBe(true);
    expect(
      validate({
        configuration: { parameters: { api: parameters.api } },
        rows: [{ id: '1', configuration: {} }],
      }),
    ).toBe(true);
    expect(validate({ parameters: { ...parameters, api: {} } })).toBe(false);
    expect(validate({ configuration: { parameters: { api: 5 } } })).toBe(false);
  });

  test('the fixtures of this project fit their schema, and a misspelled key does not', () => {
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(fixtureSchema);
    const folder = fileURLToPath(new URL('../../../fixtures/', import.meta.url));
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('fixture.json'),
    );
    expect(files.length).toBeGreaterThan(0);
    for (const name of files) {
      validate(JSON.parse(readFileSync(`${folder}${name}`, 'utf8')));
      expect(validate.errors ?? [], name).toEqual([]);
    }
    expect(validate({ clok: '2026-01-02T03:04:05Z' })).toBe(false);
  });
});

interface Key {
  readonly key: string;
  readonly property: OptionSchema;
}

/** Every property of a schema, with what a reference gives it; properties that are only named have none. */
function keysOf(schema: OptionSchema): readonly Key[] {
  const definitions = isSchema(schema['definitions']) ? schema['definitions'] : {};
  const found: Key[] = [];
  const visit = (node: OptionSchema): void => {
    for (const [key, property] of Object.entries(propertiesOf(node))) {
      const ref =
        typeof property['$ref'] === 'string'
          ? definitions[property['$ref'].split('/').at(-1) ?? '']
          : undefined;
      if (!isCondition(property))
        found.push({ key, property: { ...(isSchema(ref) ? ref : {}), ...property } });
      visit(property);
    }
    for (const keyword of ['allOf', 'anyOf', 'oneOf'])
      for (const part of branchesOf(node[keyword])) visit(part);
    for (const keyword of ['items', 'additionalProperties', 'then', 'else']) {
      const part = node[keyword];
      if (isSchema(part)) visit(part);
    }
  };
  visit(schema);
  for (const definition of Object.values(definitions)) if (isSchema(definition)) visit(definition);
  return found;
}

/** `{}` names a key that is described elsewhere; `{required}` adds to one. */
function isCondition(property: OptionSchema): boolean {
  return Object.keys(property).every((keyword) => keyword === 'required');
}
