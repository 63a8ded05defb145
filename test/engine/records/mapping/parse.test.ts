import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../../src/lib/errors.ts';
import { parseExact } from '../../../../src/lib/json/index.ts';
import { columnsOf, primaryKeyOf } from '../../../../src/engine/records/mapping/columns.ts';
import type { Mapping } from '../../../../src/engine/records/mapping/mapping.ts';
import { parseMapping, parseMappings } from '../../../../src/engine/records/mapping/parse.ts';

const AT = 'parameters.config.mappings';

function users(mapping: string): Mapping {
  return parseMapping(parseExact(mapping), `${AT}.users`, 'users');
}

function errorOf(act: () => unknown): ConfigError {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('Nothing was thrown');
}

describe('the header of a mapping', () => {
  test('is in the order of the mapping, whatever the kind', () => {
    const mapping = users(`{
      "b.c": "short",
      "a": {"mapping": {"destination": "plain"}},
      "parent_id": {"type": "user", "mapping": {"destination": "parent"}},
      "t": {"type": "date", "mapping": {"destination": "at"}},
      "x": {"type": "", "mapping": {"destination": 7}}
    }`);
    expect(columnsOf(mapping)).toEqual(['short', 'plain', 'parent', 'at', '7']);
    expect(primaryKeyOf(mapping)).toEqual([]);
  });

  test('has a link column for a child table, and the child the parent key last', () => {
    const mapping = users(
      '{"a": "a", "tags": {"type": "table", "destination": "t", "tableMapping": {".": "tag"}}, "b": "b"}',
    );
    expect(columnsOf(mapping)).toEqual(['a', 't', 'b']);
    const [, tags] = mapping.entries;
    expect(tags?.kind === 'table' && columnsOf(tags.mapping)).toEqual(['tag', 'users_pk']);
  });

  test('has no link column with a primary key, or with the parent key disabled', () => {
    const child = '"tags": {"type": "table", "destination": "t", "tableMapping": {".": "tag"}}';
    expect(
      columnsOf(users(`{"a": {"mapping": {"destination": "a", "primaryKey": true}}, ${child}}`)),
    ).toEqual(['a']);
    const disabled = users(
      '{"a": "a", "tags": {"type": "table", "destination": "t", "parentKey": {"disable": true}, "tableMapping": {".": "tag"}}}',
    );
    expect(columnsOf(disabled)).toEqual(['a']);
    const [, tags] = disabled.entries;
    expect(tags?.kind === 'table' && columnsOf(tags.mapping)).toEqual(['tag']);
  });

  test('takes the parent key into the primary key where it is flagged, behind the others', () => {
    const mapping = users(`{"id": {"mapping": {"destination": "id", "primaryKey": true}}, "tags": {
      "type": "table", "destination": "t", "parentKey": {"destination": "userId", "primaryKey": true},
      "tableMapping": {"n": {"mapping": {"destination": "n", "primaryKey": true}}, "v": "v"}}}`);
    const [, tags] = mapping.entries;
    expect(tags?.kind === 'table' && columnsOf(tags.mapping)).toEqual(['n', 'v', 'userId']);
    expect(tags?.kind === 'table' && primaryKeyOf(tags.mapping)).toEqual(['n', 'userId']);
  });

  test('may be given as a list, which is what a configuration makes of the keys 0, 1, 2', () => {
    const mapping = users('["first", {"mapping": {"destination": "second"}}]');
    expect(mapping.entries.map(({ path }) => path)).toEqual(['0', '1']);
  });

  test('two entries for one child table share a link column', () => {
    const mapping = users(`{
      "home": {"type": "table", "destination": "address", "tableMapping": {"street": "street"}},
      "id": "id",
      "work": {"type": "table", "destination": "address", "tableMapping": {"road": "street"}}
    }`);
    expect(columnsOf(mapping)).toEqual(['address', 'id']);
  });
});

describe('mappings by data type', () => {
  test('are read each with its own name as the table', () => {
    const mappings = parseMappings(parseExact('{"users": {"id": "id"}, "order.items": {"n": "n"}}'), AT);
    expect([...mappings].map(([type, { table }]) => [type, table])).toEqual([
      ['users', 'users'],
      ['order.items', 'order.items'],
    ]);
  });

  test.each(['null', '{}', '[]', '""'])('are none when the node is %s', (node) => {
    expect(parseMappings(parseExact(node), AT).size).toBe(0);
  });

  test('must be a map', () => {
    expect(errorOf(() => parseMappings('users', AT))).toMatchObject({
      code: 'config.invalid',
      where: { path: AT },
    });
  });
});

describe('a mapping that is wrong', () => {
  test.each([
    ['{}', `${AT}.users`, 'at least one entry'],
    ['[]', `${AT}.users`, 'at least one entry'],
    ['"id"', `${AT}.users`, 'must be a map'],
    ['{"id": ""}', `${AT}.users.id`, 'name of a column'],
    ['{"id": null}', `${AT}.users.id`, 'name of a column'],
    ['{"a.b": {}}', `${AT}.users["a.b"]`, 'mapping.destination'],
    ['{"id": {"type": "column"}}', `${AT}.users.id`, 'mapping.destination'],
    ['{"id": {"mapping": "id"}}', `${AT}.users.id`, 'mapping.destination'],
    ['{"id": {"mapping": {"destination": ""}}}', `${AT}.users.id`, 'mapping.destination'],
    ['{"id": {"type": "user", "mapping": {}}}', `${AT}.users.id`, 'mapping.destination'],
    ['{"id": {"type": "strange"}}', `${AT}.users.id`, 'mapping.destination'],
    ['{"id": {"type": ["column"]}}', `${AT}.users.id.type`, '`type` must be a text, and it is a list.'],
    [
      '{"id": {"delimiter": true, "mapping": {"destination": "id"}}}',
      `${AT}.users.id.delimiter`,
      '`delimiter`',
    ],
    ['{"t": {"type": "table", "tableMapping": {"a": "a"}}}', `${AT}.users.t`, '“destination”'],
    ['{"t": {"type": "table", "destination": "c"}}', `${AT}.users.t`, '“tableMapping”'],
    ['{"t": {"type": "table", "destination": "c", "tableMapping": {}}}', `${AT}.users.t`, '“tableMapping”'],
    [
      '{"t": {"type": "table", "destination": "c", "tableMapping": "x"}}',
      `${AT}.users.t.tableMapping`,
      'must be a map',
    ],
    [
      '{"t": {"type": "table", "destination": "c", "tableMapping": {"a": {}}}}',
      `${AT}.users.t.tableMapping.a`,
      'mapping.destination',
    ],
    ['{"t": {"type": "table", "destination": "users"}}', `${AT}.users.t`, 'the table “users” itself'],
    [
      '{"t": {"type": "table", "destination": "c", "parentKey": "k", "tableMapping": {"a": "a"}}}',
      `${AT}.users.t.parentKey`,
      '“parentKey”',
    ],
    [
      '{"t": {"type": "table", "destination": "c", "parentKey": {"destination": {"a": 1}}, "tableMapping": {"a": "a"}}}',
      `${AT}.users.t.parentKey.destination`,
      '“destination”',
    ],
    [
      '{"t": {"type": "table", "destination": "c/d", "tableMapping": {"a": "a"}}}',
      `${AT}.users.t.tableMapping`,
      'name of a table',
    ],
  ])('%s says so at %s', (mapping, path, message) => {
    const error = errorOf(() => users(mapping));
    expect(error).toMatchObject({ code: 'config.invalid', audience: 'user', where: { path } });
    expect(error.message).toContain(message);
  });

  test.each([
    ['two columns', '{"a": "x", "b": "x"}', 'x'],
    [
      'a column and a child table',
      '{"a": "t", "b": {"type": "table", "destination": "t", "tableMapping": {"c": "c"}}}',
      't',
    ],
    [
      'a column and the parent key',
      '{"id": "id", "b": {"type": "table", "destination": "t", "tableMapping": {"c": "users_pk"}}}',
      'users_pk',
    ],
  ])('%s of one name are refused', (_, mapping, column) => {
    expect(errorOf(() => users(mapping)).message).toContain(`the column “${column}” twice`);
  });

  test('a child table mapped twice with different columns is refused', () => {
    const error = errorOf(() =>
      users(`{
        "a": {"type": "table", "destination": "t", "tableMapping": {"x": "x"}},
        "b": {"type": "table", "destination": "t", "tableMapping": {"x": "x", "y": "y"}}
      }`),
    );
    expect(error.message).toBe('The child table “t” is mapped twice with different columns');
    expect(error.where.path).toBe(`${AT}.users.b.tableMapping`);
    expect(error.hint).toContain(`${AT}.users.a.tableMapping`);
  });
});
