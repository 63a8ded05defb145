import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../../src/lib/errors.ts';
import { parseExact } from '../../../../src/lib/json/index.ts';
import type { Mappings } from '../../../../src/engine/records/mapping/mapping.ts';
import { checkTypes, missingTables } from '../../../../src/engine/records/mapping/missing.ts';
import { parseMappings } from '../../../../src/engine/records/mapping/parse.ts';

function mappings(text: string): Mappings {
  return parseMappings(parseExact(text), 'mappings');
}

describe('tables that got nothing', () => {
  const NESTED =
    mappings(`{"users": {"id": "id", "contacts": {"type": "table", "destination": "contact", "tableMapping": {
    "email": "email", "addresses": {"type": "table", "destination": "address", "tableMapping": {"street": "street"}}, "tel": "tel"}}}}`);

  test('have a header without link columns, and the parent key last', () => {
    expect(missingTables(NESTED, () => false)).toEqual([
      { name: 'users', columns: ['id'] },
      { name: 'contact', columns: ['email', 'tel', 'users_pk'] },
      { name: 'address', columns: ['street', 'contact_pk'] },
    ]);
  });

  test('are only those that were not written', () => {
    expect(missingTables(NESTED, (table) => table !== 'address').map(({ name }) => name)).toEqual([
      'address',
    ]);
    expect(missingTables(NESTED, () => true)).toEqual([]);
  });

  test('have their primary key, with the parent key where it is flagged', () => {
    const missing = missingTables(
      mappings(`{"t": {"u": {"type": "user", "mapping": {"destination": "u", "primaryKey": true}}, "d": {"type": "date", "mapping": {"destination": "d"}},
        "n": {"type": "table", "destination": "items", "parentKey": {"destination": "t_id", "primaryKey": true}, "tableMapping": {"q": "q"}}}}`),
      () => false,
    );
    expect(missing).toEqual([
      { name: 't', columns: ['u', 'd'], primaryKey: ['u'] },
      { name: 'items', columns: ['q', 't_id'], primaryKey: ['t_id'] },
    ]);
  });

  test('have no parent key when it is disabled', () => {
    const missing = missingTables(
      mappings(
        '{"t": {"a": "a", "n": {"type": "table", "destination": "items", "parentKey": {"disable": true}, "tableMapping": {"q": "q"}}}}',
      ),
      () => false,
    );
    expect(missing[1]).toEqual({ name: 'items', columns: ['q'] });
  });

  test('need a column of their own, are named once, and do not recur into themselves', () => {
    const missing = missingTables(
      mappings(`{
        "rows": {"rows": {"type": "table", "destination": "report", "tableMapping": {"0": "day"}}},
        "tree": {"id": "id", "children": {"type": "table", "destination": "tree", "parentKey": {"disable": true}}},
        "more": {"a": {"type": "table", "destination": "report", "tableMapping": {"x": "x"}}}
      }`),
      () => false,
    );
    expect(missing).toEqual([
      { name: 'report', columns: ['day', 'rows_pk'] },
      { name: 'tree', columns: ['id'] },
    ]);
  });

  test('an entry of an unknown type is an error, wherever it stands and though the table was written', () => {
    const strange = mappings(
      '{"t": {"n": {"type": "table", "destination": "c", "tableMapping": {"q": {"type": "colum", "mapping": {"destination": "q"}}}}}}',
    );
    for (const act of [
      (): unknown => missingTables(strange, () => true),
      (): unknown => checkTypes(strange),
    ]) {
      expect(act).toThrow(ConfigError);
      expect(act).toThrow('“colum” is no type');
    }
    expect(() => checkTypes(NESTED)).not.toThrow();
  });
});
