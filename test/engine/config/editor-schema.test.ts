import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { validateConfig } from '../../../src/engine/config/index.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const schema = JSON.parse(readFileSync(path.join(ROOT, 'schemas/config.schema.json'), 'utf8')) as object;
const accepts = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);

function complaints(config: unknown): readonly string[] {
  accepts(config);
  return (accepts.errors ?? [])
    .filter(({ keyword }) => keyword !== 'if') // only says that another one failed
    .map(({ instancePath, params }) => `${instancePath} ${String(params['additionalProperty'] ?? '')}`);
}

const job = (more: object): object => ({
  parameters: {
    api: { baseUrl: 'http://127.0.0.1/', pagination: { method: 'offset', limit: 10 } },
    config: { anAttribute: 1, jobs: [{ endpoint: 'books', ...more }] },
  },
});

describe('the schema for editors', () => {
  test('underlines a misspelled key of a job, and leaves attributes and documents open', () => {
    expect(complaints(job({ dataField: 'books' }))).toEqual([]);
    expect(complaints(job({ datafield: 'books' }))).toEqual(['/parameters/config/jobs/0 datafield']);
    expect(complaints({ ...job({}), processors: {} })).toEqual([]);
  });

  const fixtures = readdirSync(path.join(ROOT, 'fixtures'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  test.each(fixtures)('accepts what gex validate has nothing to say of: %s', async (name) => {
    const text = readFileSync(path.join(ROOT, 'fixtures', name, 'config.json'), 'utf8');
    const problems = await validateConfig(text);
    if (problems.length > 0) return;
    expect(complaints(JSON.parse(text))).toEqual([]);
  });
});
