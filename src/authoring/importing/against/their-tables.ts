import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { extract } from '../../../engine/extract/extract.ts';
import type { Send } from '../../../engine/shared/message.ts';
import { systemEnv } from '../../../lib/env.ts';
import { objectOf, type AnyObject } from '../../../lib/json/index.ts';
import { silentLog } from '../../../lib/log.ts';
import type { Secrets } from '../../../lib/secrets.ts';
import type { SpooledRecords } from './read-records.ts';

/** Records, or characters of them, that go into one page. */
const PAGE_RECORDS = 1000;
const PAGE_CHARACTERS = 4_000_000;

export interface TheirTablesOptions {
  readonly folder: string;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
}

/**
 * Makes tables of records by the engine of a run, as if an API had given them: so that objects, lists and names become
 * what they become in a table of ours.
 *
 * @param dataType name that the table derives from
 * @returns the folder of the tables
 */
export async function theirTables(
  { file }: SpooledRecords,
  dataType: string,
  { folder, secrets, signal }: TheirTablesOptions,
): Promise<string> {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity });
  const outFolder = path.join(folder, 'out');
  try {
    await extract({
      configuration: configurationFor(dataType),
      state: objectOf([]),
      outFolder,
      workFolder: path.join(folder, 'work'),
      cacheFolder: path.join(folder, 'cache'),
      env: systemEnv,
      log: silentLog,
      secrets,
      signal,
      isValidated: true,
      bottom: answering(lines),
    });
  } finally {
    lines.close();
  }
  return path.join(outFolder, 'tables');
}

function configurationFor(dataType: string): AnyObject {
  return objectOf([
    [
      'parameters',
      {
        api: { baseUrl: 'http://records.invalid/', pagination: { method: 'pagenum' } },
        config: {
          jobs: [{ endpoint: 'records', dataType, dataField: 'rows' }],
        },
      },
    ],
  ]);
}

/** Answers page after page. */
function answering(lines: Interface): Send {
  const reader = lines[Symbol.asyncIterator]();
  let page = 0;
  return async ({ url }) => {
    const rows: string[] = [];
    let characters = 0;
    while (rows.length < PAGE_RECORDS && characters < PAGE_CHARACTERS) {
      const { value, done } = await reader.next();
      if (done === true) break;
      rows.push(value);
      characters += value.length;
    }
    page++;
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      url,
      body: Buffer.from(`{"page":${page},"rows":[${rows.join(',')}]}`),
    };
  };
}
