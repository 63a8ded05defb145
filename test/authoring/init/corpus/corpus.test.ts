import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { gexHere } from '../../../cli/support.ts';
import { sample } from '../../../support/sample.ts';
import { serve } from '../apis.ts';
import { DATABASES } from './databases.ts';
import { NUMBERED } from './numbers.ts';
import { markOf, type Server } from './servers.ts';
import { SERVICES } from './services.ts';
import { POINTED } from './tokens.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-init-corpus-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;

interface Outcome {
  /** The word of the verdict; undefined where nothing was written. */
  readonly verdict: string | undefined;
  readonly code: number | null;
  /** The configuration that was written brings every row of the server once. */
  readonly isWhole: boolean;
  readonly rows: number;
  readonly shown: string;
}

/** Lets `gex init` look at a server, runs what it writes, and compares the rows with those of the server. */
async function outcomeOf({ ask, api, rows }: Server): Promise<Outcome> {
  const { origin, asked, close } = await serve(api);
  try {
    const out = path.join(folder, String(++made));
    const word = ask.startsWith('/') ? `${origin}${ask}` : ask.replaceAll('ORIGIN', origin);
    const init = await gexHere('init', word, '--out', out);
    const requests = asked.length;
    const shown = `${init.stdout}${init.stderr}`;
    const file = path.join(out, 'config.json');
    if (!existsSync(file)) return { verdict: undefined, code: init.code, isWhole: false, rows: 0, shown };
    const ran = await gexHere('run', '--data', out, '--storage', 'none');
    const marks = marksIn(path.join(out, 'out', 'tables'));
    const all = Array.from({ length: rows }, (_, i) => markOf(i));
    return {
      verdict: /^verdict +(\w+)/m.exec(shown)?.[1],
      code: init.code,
      isWhole: marks.toSorted().join() === all.join(),
      rows: marks.length,
      shown: `${shown}\n${readFileSync(file, 'utf8')}\n${requests} requests\n${asked.join('\n')}\n${ran.stderr}`,
    };
  } finally {
    close();
  }
}

/** The marks of rows in all tables. */
function marksIn(tables: string): string[] {
  if (!existsSync(tables)) return [];
  return readdirSync(tables, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() && !entry.name.endsWith('.manifest')
      ? (readFileSync(path.join(entry.parentPath, entry.name), 'utf8').match(/R\d{4}\./g) ?? [])
      : [],
  );
}

const SERVERS = sample<Server>([...NUMBERED, ...POINTED, ...DATABASES, ...SERVICES], 40);

describe('gex init is right or honest', () => {
  test.each(SERVERS.filter(({ isOpen }) => isOpen !== true))('right: $name', async (server) => {
    const { verdict, code, isWhole, rows, shown } = await outcomeOf(server);
    expect({ isWhole, rows, code }, shown).toEqual({ isWhole: true, rows: server.rows, code: 0 });
    expect(['complete', 'ended', 'unproved'], shown).toContain(verdict);
    for (const text of server.says ?? []) expect(shown.replaceAll(/\s+/g, ' ')).toContain(text);
  });

  test.each(SERVERS.filter(({ isOpen }) => isOpen === true))('honest: $name', async (server) => {
    const { verdict, code, shown } = await outcomeOf(server);
    expect(['unproved', 'doubtful', undefined], shown).toContain(verdict);
    expect(code, shown).toBe(verdict === 'unproved' ? 0 : 1);
    for (const text of server.says ?? []) expect(shown.replaceAll(/\s+/g, ' ')).toContain(text);
  });
});
