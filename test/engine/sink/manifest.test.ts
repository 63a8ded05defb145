import { describe, expect, test } from 'vitest';
import { tableManifest } from '../../../src/engine/sink/manifest.ts';

describe('manifest of a table', () => {
  test('names destination, load and primary key, in this order', () => {
    expect(
      tableManifest({
        bucket: 'mock-server',
        table: 'users',
        incremental: false,
        primaryKey: ['id', 'parent'],
      }),
    ).toBe('{"destination":"in.c-mock-server.users","incremental":false,"primary_key":["id","parent"]}');
  });

  test('has no primary key when there is none', () => {
    const text = '{"destination":"in.c-mock-server.users","incremental":true}';
    expect(tableManifest({ bucket: 'mock-server', table: 'users', incremental: true })).toBe(text);
    expect(tableManifest({ bucket: 'mock-server', table: 'users', incremental: true, primaryKey: [] })).toBe(
      text,
    );
  });

  test('has no destination without a bucket', () => {
    expect(tableManifest({ table: 'users', incremental: false })).toBe('{"incremental":false}');
    expect(tableManifest({ bucket: '', table: 'users', incremental: false })).toBe('{"incremental":false}');
  });

  test('of a table that got no rows begins with the load', () => {
    expect(
      tableManifest({ bucket: 'b', table: 'users', incremental: false, primaryKey: ['id'], missing: true }),
    ).toBe('{"incremental":false,"destination":"in.c-b.users","primary_key":["id"]}');
  });

  test('is ASCII, with slashes escaped', () => {
    expect(tableManifest({ bucket: 'b', table: 'č/x', incremental: false })).toBe(
      String.raw`{"destination":"in.c-b.\u010d\/x","incremental":false}`,
    );
  });
});
