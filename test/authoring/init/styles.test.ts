import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { gexHere } from '../../cli/support.ts';
import { serve, STYLES } from './apis.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'gex-init-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Written {
  readonly parameters: { readonly api: { readonly pagination?: Record<string, unknown> } };
}

describe('gex init finds how the pages follow, and the run has every row', () => {
  test.each(STYLES)('$name', async ({ name, api, source, rows, verdict, pagination }) => {
    const { origin, asked, close } = await serve(api);
    try {
      const out = path.join(folder, name.replaceAll(/\W+/g, '-'));
      const word = (source ?? 'ORIGIN/v1/users').replaceAll('ORIGIN', origin);
      const made = await gexHere('init', word, '--out', out);
      const shown = `${made.stdout}${made.stderr}`;
      expect(made.code, shown).toBe(0);
      expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(12);
      const written = JSON.parse(readFileSync(path.join(out, 'config.json'), 'utf8')) as Written;
      if (pagination === undefined) expect(written.parameters.api.pagination, shown).toBeUndefined();
      else expect(written.parameters.api.pagination, shown).toMatchObject(pagination);
      expect(shown).toContain(`verdict`);
      expect(shown).toMatch(new RegExp(`^verdict +${verdict}`, 'm'));

      expect((await gexHere('validate', '--data', out, '--strict')).stdout).toContain('is valid');
      const ran = await gexHere('run', '--data', out, '--storage', 'none', '--json');
      expect(ran.code, ran.stderr).toBe(0);
      const result = JSON.parse(ran.stdout) as { rows: { jobs: { rows: number; verdict: string }[] }[] };
      expect(result.rows[0]?.jobs[0]).toMatchObject({ rows, verdict });
    } finally {
      close();
    }
  });
});
