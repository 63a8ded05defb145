import { readFileSync, statSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';
import type { Log } from '../../../lib/log.ts';

/**
 * Returns an address with the password of the file that other clients of PostgreSQL take it from (`.pgpass` of the home
 * folder, or `PGPASSFILE`), when neither the address nor `PGPASSWORD` has one. Like them, it takes none from a file that
 * others may read.
 */
export function withStoredPassword(
  url: string,
  environment: Readonly<Record<string, string | undefined>>,
  log: Log,
): string {
  const address = new URL(url);
  const { hostname, port, pathname, username, password, searchParams } = address;
  const given = password || searchParams.get('password') || environment['PGPASSWORD'];
  if (given) return url;
  const file = environment['PGPASSFILE'] || path.join(homedir(), '.pgpass');
  const text = readPrivately(file, log);
  const user = decodeURIComponent(username) || searchParams.get('user') || environment['PGUSER'];
  const wanted = [
    decodeURIComponent(hostname) || searchParams.get('host') || environment['PGHOST'] || 'localhost',
    port || searchParams.get('port') || environment['PGPORT'] || '5432',
    decodeURIComponent(pathname.slice(1)) || environment['PGDATABASE'] || user || userInfo().username,
    user || userInfo().username,
  ];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    const [found] = fields.slice(wanted.length);
    if (found === undefined || !wanted.every((value, i) => fields[i] === '*' || fields[i] === value))
      continue;
    address.password = encodeURIComponent(found);
    return address.href;
  }
  return url;
}

/** Splits a line at its colons; `\:` and `\\` are a colon and a backslash. */
function fieldsOf(line: string): string[] {
  const fields = [''];
  for (const [part] of line.matchAll(/\\.|[^\\]|\\$/gs)) {
    if (part === ':') fields.push('');
    else fields.push((fields.pop() ?? '') + (part.length > 1 ? part.slice(1) : part));
  }
  return fields;
}

/** Reads the file; empty when there is none, or when others may read it. */
function readPrivately(file: string, log: Log): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) return '';
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
    log.warn('The file with passwords of databases is not used, as others may read it: chmod 600', { file });
    return '';
  }
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
