/** A process of its own that runs one large page and says how much memory it took at most, in bytes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemEnv } from '../../src/env.ts';
import { extract } from '../../src/extract.ts';
import { silentLog } from '../../src/log.ts';
import { Secrets } from '../../src/secrets.ts';

const [baseUrl = ''] = process.argv.slice(2);
const folder = mkdtempSync(path.join(tmpdir(), 'gex-large-'));
const { rows } = await extract({
  configuration: { parameters: { api: { baseUrl }, config: { jobs: [{ endpoint: 'rows' }] } } },
  state: {},
  outFolder: path.join(folder, 'out'),
  workFolder: path.join(folder, 'work'),
  cacheFolder: path.join(folder, 'cache'),
  env: systemEnv,
  log: silentLog,
  secrets: new Secrets(),
  signal: new AbortController().signal,
});
rmSync(folder, { recursive: true });
process.stdout.write(JSON.stringify({ rows, peakBytes: process.resourceUsage().maxRSS * 1024 }));
