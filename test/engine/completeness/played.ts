import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemEnv } from '../../../src/lib/env.ts';
import { extract } from '../../../src/engine/extract/extract.ts';
import type { Send } from '../../../src/engine/shared/message.ts';
import { isObject, parseExact } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { Secrets } from '../../../src/lib/secrets.ts';
import type { JobReport } from '../../../src/engine/completeness/index.ts';

export interface Answer {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status?: number;
}

/** Runs a configuration over these answers, in their order, and gives what is said of its jobs. */
export async function played(
  configuration: string,
  answers: readonly Answer[],
): Promise<readonly JobReport[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'gex-verdict-'));
  const left = [...answers];
  const bottom: Send = async ({ url }) => {
    const answer = left.shift();
    if (answer === undefined) throw new Error(`more was asked for than is described: ${url}`);
    return { status: answer.status ?? 200, headers: answer.headers, url, body: Buffer.from(answer.body) };
  };
  try {
    const parsed = parseExact(configuration);
    if (!isObject(parsed)) throw new Error('a configuration is an object');
    const { jobs } = await extract({
      configuration: parsed,
      state: {},
      outFolder: path.join(folder, 'out'),
      workFolder: path.join(folder, 'work'),
      cacheFolder: path.join(folder, 'cache'),
      env: systemEnv,
      log: silentLog,
      secrets: new Secrets(),
      signal: new AbortController().signal,
      bottom,
    });
    return jobs;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
