/** A process of its own that runs one large page and says how much memory it took at most, in bytes. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemEnv } from '../../../src/lib/env.ts';
import { extract } from '../../../src/engine/extract/extract.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { Secrets } from '../../../src/lib/secrets.ts';

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
process.stdout.write(JSON.stringify({ rows, peakBytes: 1024 * peakKilobytes() }));

/**
 * Returns the peak memory of this process. Linux tells it exactly, while `resourceUsage` includes the process that
 * started this one, up to there.
 */
function peakKilobytes(): number {
  const status = '/proc/self/status';
  const peak = existsSync(status) && /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8'));
  return peak ? Number(peak[1]) : process.resourceUsage().maxRSS;
}
