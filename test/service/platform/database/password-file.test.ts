import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Log } from '../../../../src/lib/log.ts';
import { withStoredPassword } from '../../../../src/service/platform/database/password-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-pgpass-'));
const file = path.join(folder, 'pgpass');
const warnings: string[] = [];
const log: Log = { debug() {}, info() {}, warn: (message) => void warnings.push(message), error() {} };
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LINES = [
  '# a comment',
  'db.example.com:5432:tables:other:of another user',
  'db.example.com:6432:*:me:by port',
  'db.example.com:*:tables:me:p\\:a\\\\ss@word',
  'short:line',
  '*:*:*:me:any',
];
writeFileSync(file, LINES.join('\r\n'), { mode: 0o600 });

const passwordOf = (url: string, environment: Record<string, string> = {}): string =>
  decodeURIComponent(new URL(withStoredPassword(url, { PGPASSFILE: file, ...environment }, log)).password);

test('a password is taken from the first line that fits, as by the clients of PostgreSQL', () => {
  expect(passwordOf('postgres://me@db.example.com/tables')).toBe('p:a\\ss@word');
  expect(passwordOf('postgres://me@db.example.com:6432/tables')).toBe('by port');
  expect(passwordOf('postgres://me@elsewhere/x')).toBe('any');
  expect(passwordOf('postgres://nobody@elsewhere/x')).toBe('');
});

test('one of the address or of PGPASSWORD goes first', () => {
  expect(passwordOf('postgres://me:own@db.example.com/tables')).toBe('own');
  expect(passwordOf('postgres://me@db.example.com/tables', { PGPASSWORD: 'set' })).toBe('');
});

test('a file that others may read is not used, and that is said', () => {
  chmodSync(file, 0o644);
  expect(passwordOf('postgres://me@db.example.com/tables')).toBe('');
  expect(warnings).toEqual([expect.stringMatching(/chmod 600/)]);
  chmodSync(file, 0o600);
});
