import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importAirbyte } from '../../../../src/authoring/importing/airbyte/index.ts';
import { readYaml } from '../../../../src/authoring/importing/airbyte/read-yaml.ts';
import { checked } from '../../../../src/authoring/importing/check.ts';
import type { Imported } from '../../../../src/authoring/importing/report.ts';
import { run, silentLog } from '../../../../src/index.ts';
import { serveApis } from '../support/api.ts';

const HERE = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = mkdtempSync(path.join(os.tmpdir(), 'gex-importing-'));

type Row = Readonly<Record<string, unknown>>;

let apis: Awaited<ReturnType<typeof serveApis>>;
beforeAll(async () => {
  apis = await serveApis();
});
afterAll(() => apis.close());

/**
 * `expected/` holds the records that the tool itself reads from the same APIs (airbyte-cdk 7.39.1). What it reads and
 * what the imported configuration reads must be the same rows.
 */
describe('an imported configuration reads what the connector reads', () => {
  const names = readdirSync(path.join(HERE, 'expected')).map((file) => path.basename(file, '.json'));
  test.each(names)('%s', async (name) => {
    const imported = await importLocal(name);
    const expected = JSON.parse(
      readFileSync(path.join(HERE, 'expected', `${name}.json`), 'utf8'),
    ) as Readonly<Record<string, readonly Row[]>>;
    const not = imported.report.streams.filter(({ outcome }) => outcome === 'not');
    expect(not.map(({ stream, reasons }) => ({ stream, reasons }))).toEqual([]);
    const dataFolder = path.join(FOLDER, name);
    mkdirSync(dataFolder);
    writeFileSync(path.join(dataFolder, 'config.json'), JSON.stringify(imported.configuration));
    await run({ dataFolder, log: silentLog });
    for (const { stream, row = '' } of imported.report.streams) {
      const wanted = (expected[stream] ?? []).map(flat);
      const columns = [...new Set(wanted.flatMap((record) => Object.keys(record)))];
      const got = tableOf(path.join(dataFolder, 'rows', row, 'out', 'tables'), stream);
      expect(sorted(got.map((record) => only(record, columns))), stream).toEqual(
        sorted(wanted.map((record) => only(record, columns))),
      );
    }
  });
});

/** `later/` holds what the tool reads with a state, in a run after the first. */
describe('a later run reads what the connector reads since its state', () => {
  const names = readdirSync(path.join(HERE, 'later')).map((file) => path.basename(file, '.json'));
  test.each(names)('%s', async (name) => {
    const { configuration, report } = await importLocal(name);
    const later = JSON.parse(readFileSync(path.join(HERE, 'later', `${name}.json`), 'utf8')) as Readonly<
      Record<string, { readonly state: Row; readonly records: readonly Row[] }>
    >;
    const dataFolder = path.join(FOLDER, `${name}-later`);
    const rows = configuration['rows'] as readonly { readonly id: string }[];
    for (const [stream, { state, records }] of Object.entries(later)) {
      const row = report.streams.find((one) => one.stream === stream)?.row ?? '';
      const folder = path.join(dataFolder, stream);
      mkdirSync(path.join(folder, 'rows', row, 'in'), { recursive: true });
      const chosen = { ...configuration, rows: rows.filter(({ id }) => id === row) };
      writeFileSync(path.join(folder, 'config.json'), JSON.stringify(chosen));
      const [cursor] = Object.values(state);
      const given = { incremental: { [stream]: { cursor } } };
      writeFileSync(path.join(folder, 'rows', row, 'in', 'state.json'), JSON.stringify(given));
      await run({ dataFolder: folder, log: silentLog });
      const got = tableOf(path.join(folder, 'rows', row, 'out', 'tables'), stream);
      const ids = (all: readonly Row[]): readonly string[] =>
        all.map(({ id }) => String(id as number)).toSorted();
      expect(ids(got), stream).toEqual(ids(records));
    }
  });
});

async function importLocal(name: string): Promise<Imported> {
  const file = `${name}.yaml`;
  const text = readFileSync(path.join(HERE, 'manifests', file), 'utf8').replaceAll('https://', apis.url);
  const settings = readYaml(
    readFileSync(path.join(HERE, 'settings', `${name}.json`), 'utf8'),
    'settings.json',
  );
  return await checked(importAirbyte(text, { file, settings }));
}

/** The scalars of a record by the names that their columns have. */
function flat(record: Row): Readonly<Record<string, string>> {
  const cells: Record<string, string> = {};
  const add = (value: unknown, name: string): void => {
    if (Array.isArray(value)) return;
    if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) add(item, name === '' ? key : `${name}_${key}`);
    } else
      cells[name] =
        value === true ? '1' : value === false || value === null ? '' : `${value as string | number}`;
  };
  add(record, '');
  return cells;
}

function only(record: Readonly<Record<string, string>>, columns: readonly string[]): Row {
  return Object.fromEntries(columns.map((column) => [column, record[column] ?? '']));
}

function sorted(rows: readonly Row[]): readonly string[] {
  return rows.map((row) => JSON.stringify(row)).toSorted();
}

function tableOf(folder: string, stream: string): readonly Readonly<Record<string, string>>[] {
  if (!existsSync(folder)) return [];
  const file = readdirSync(folder).find((name) => name.endsWith(`.${stream}`));
  if (file === undefined) return [];
  return parse(readFileSync(path.join(folder, file), 'utf8'), { columns: true });
}
