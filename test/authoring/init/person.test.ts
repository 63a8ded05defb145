import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runCommandLine } from '../../../src/cli/cli.ts';
import type { Io } from '../../../src/cli/command.ts';
import { plainText } from '../../../src/lib/logging/lines.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import { gexHere, runHere } from '../../cli/support.ts';
import { rowsOf, serve, type Answered, type Api } from './apis.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-init-person-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const env = { SHOP_SECRET: 'hush-9f31c7' };

/** An API whose tokens are those of a person, and its login page. */
const api: Api = ({ path: at, query, headers, origin }): Answered => {
  if (at === '/authorize') {
    const back = new URL(query.get('redirect_uri') ?? origin);
    back.searchParams.set('code', 'c0de');
    back.searchParams.set('state', query.get('state') ?? '');
    return { status: 302, headers: { location: back.href }, body: {} };
  }
  if (at === '/token')
    return { body: { access_token: 'acc-77ab', refresh_token: 'ref-77ab', expires_in: 3600 } };
  if (headers['authorization'] !== 'Bearer acc-77ab') return { status: 401, body: {} };
  const page = Number(query.get('page') ?? 1);
  return { body: { users: rowsOf(25).slice((page - 1) * 10, page * 10), page, total: 25 } };
};

/** Runs the command line with a browser: it opens the address of the login, as a person would. */
async function withBrowser(args: readonly string[]): Promise<{ code: number; shown: string }> {
  let shown = '';
  const visits: Promise<unknown>[] = [];
  const secrets = new Secrets();
  const io: Io = {
    secrets,
    signal: AbortSignal.timeout(20_000),
    isTerminal: false,
    print: (text) => void (shown += `${secrets.redact(text)}\n`),
    note: (spans) => {
      const text = plainText(spans);
      shown += `${secrets.redact(text)}\n`;
      const address = /http:\S+\/authorize\?\S+/.exec(text)?.[0];
      if (address !== undefined) visits.push(fetch(address));
    },
    live: () => {},
    send: async () => {},
  };
  const before = process.env['SHOP_SECRET'];
  Object.assign(process.env, env);
  try {
    const code = await runCommandLine(args, io);
    await Promise.all(visits);
    return { code, shown };
  } finally {
    if (before === undefined) delete process.env['SHOP_SECRET'];
  }
}

describe('gex init and the login of a person', () => {
  test('the browser is opened, the list is found, and a run has the login', async () => {
    const { origin, close } = await serve(api);
    try {
      const out = path.join(folder, 'list');
      const auth = `person:shop:$SHOP_SECRET@${origin}/authorize,${origin}/token,read all`;
      const { code, shown } = await withBrowser(['init', `${origin}/v1/users`, '--auth', auth, '--out', out]);
      expect(code, shown).toBe(0);
      expect(shown).toMatch(/^verdict +complete/m);
      expect(shown).toContain('Logged in.');
      const written = readFileSync(path.join(out, 'config.json'), 'utf8');
      expect(written).toContain('"type": "oauth20.refreshToken"');
      expect(written).toContain('"scope": "read all"');
      const kept = readFileSync(path.join(out, 'in', 'logins.json'), 'utf8');
      for (const secret of ['hush-9f31c7', 'acc-77ab', 'ref-77ab'])
        expect(`${shown}${written}${kept}`).not.toContain(secret);
      const ran = await runHere(['run', '--data', out, '--storage', 'none', '--json'], { env });
      expect(ran.code, ran.stderr).toBe(0);
      expect(JSON.parse(ran.stdout)).toMatchObject({ rows: [{ tables: [{ name: 'users', rows: 25 }] }] });
    } finally {
      close();
    }
  });

  test('a document, with each of its lists', async () => {
    const { origin, close } = await serve(api);
    try {
      const items = { type: 'array', items: { type: 'object', properties: { id: { type: 'integer' } } } };
      const schema = { type: 'object', properties: { users: items } };
      const response = { description: 'ok', content: { 'application/json': { schema } } };
      const file = path.join(folder, 'shop.json');
      writeFileSync(
        file,
        JSON.stringify({
          openapi: '3.0.3',
          info: { title: 'Shop', version: '1' },
          servers: [{ url: `${origin}/v1` }],
          paths: { '/users': { get: { responses: { 200: response } } } },
        }),
      );
      const out = path.join(folder, 'document');
      const auth = `person:shop:$SHOP_SECRET@${origin}/authorize,${origin}/token`;
      const { code, shown } = await withBrowser(['init', file, '--try', '--auth', auth, '--out', out]);
      expect(code, shown).toBe(0);
      expect(shown).toMatch(/^\/users +complete +25 +25/m);
      const ran = await runHere(['run', '--data', out, '--storage', 'none', '--json'], { env });
      expect(ran.code, ran.stderr).toBe(0);
    } finally {
      close();
    }
  });

  test('nothing is kept with --dry-run', async () => {
    const { origin, asked, close } = await serve(api);
    try {
      const out = path.join(folder, 'dry');
      const auth = `person:shop:s3cret@${origin}/authorize,${origin}/token`;
      const { code, stderr } = await gexHere(
        'init',
        `${origin}/v1/users`,
        '--dry-run',
        '--auth',
        auth,
        '--out',
        out,
      );
      expect({ code, asked, isThere: existsSync(out) }).toEqual({ code: 1, asked: [], isThere: false });
      expect(stderr).toContain('--dry-run keeps no login');
    } finally {
      close();
    }
  });
});
