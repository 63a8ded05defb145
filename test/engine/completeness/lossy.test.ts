import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ExtractorError } from '../../../src/lib/errors.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import type { JobReport } from '../../../src/engine/completeness/index.ts';
import { configOf, dataFolder } from '../../cli/support.ts';
import { COUNT, honest, losses, sound, type Deed } from './lossy/losses.ts';
import { parsedBody, styles, type Ask, type Style } from './lossy/styles.ts';
import { sample } from '../../support/sample.ts';

/** Requests that a job may need until it tells: those of the list, and some that are alike. */
const MOST = 60;

type Answer = (ask: Ask, nth: number) => { body?: unknown; headers?: object; status?: number };
interface Api {
  readonly answer: Answer;
  readonly most: number;
  asked: number;
}

/** An answer for each folder of the one server. */
const answers = new Map<string, Api>();
let server: Server;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    const api = answers.get(url.pathname.split('/')[1] ?? '');
    const body = parsedBody(await textOf(request));
    if (api === undefined || ++api.asked > api.most) {
      response.writeHead(410).end();
      return;
    }
    const { body: given, headers = {}, status = 200 } = api.answer({ url, body }, api.asked);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(status === 204 ? undefined : given === undefined ? '<html>' : JSON.stringify(given));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer); // a request without encoding gives bytes
  return Buffer.concat(parts).toString();
}

/** Combination of a style of API with a misbehaviour. */
interface Cell {
  readonly style: Style;
  readonly deed: Deed;
}

/**
 * Runs the jobs of cells of one style, each over an API of its own: the verdict on each with what is said. An error ends
 * a run, so that a cell which may fail is run alone.
 */
async function outcomesOf(cells: readonly Cell[]): Promise<readonly string[]> {
  const { port } = server.address() as AddressInfo; // it listens on a port
  const root = `http://127.0.0.1:${port}/`;
  const begun = cells.map((cell) => begin(cell, root));
  const [only] = cells.length === 1 ? begun : [];
  const jobs = begun.map(({ key, job }) => ({ ...job, endpoint: only ? 'items' : `${key}/items` }));
  const base = only ? `${root}${only.key}/` : root;
  const config = configOf(base, jobs, { api: { pagination: cells[0]?.style.pagination } });
  try {
    const { rows } = await run({ dataFolder: dataFolder(config), log: silentLog });
    return jobs.map((_job, i) => outcomeOf(rows[0]?.jobs[i]));
  } catch (error) {
    if (!(error instanceof ExtractorError)) throw error;
    const isEndless = begun.some(({ api }) => api.asked > api.most);
    return jobs.map(() => `${isEndless ? 'endless' : 'error'} ${error.code}`);
  }
}

function begin({ style, deed }: Cell, root: string): { key: string; job: object; api: Api } {
  const key = `a${answers.size}`;
  const serve = deed.serve(honest, style);
  const api: Api = {
    asked: 0,
    most: deed.most ?? MOST,
    answer: (ask, nth) => {
      const token = style.asked(ask);
      const page = serve(Number(token?.split('~')[0] ?? 0), nth, token);
      const { body, headers } = style.write(page, `${root}${key}/items`);
      return {
        body: 'body' in page ? page.body : body,
        headers: { ...headers, ...page.headers },
        ...(page.status === undefined ? {} : { status: page.status }),
      };
    },
  };
  answers.set(key, api);
  return { key, job: { ...style.job, dataType: key }, api };
}

function outcomeOf(report: JobReport | undefined): string {
  const codes = report?.doubtful.flatMap(({ doubts }) => doubts.map(({ code }) => code)) ?? [];
  return [report?.verdict, ...codes, `${report?.rows} rows`].join(' ');
}

const chosen = sample(styles, 3);

/** Cells of one style that can be run together are, when the first of them is asked for. */
function series(deeds: readonly Deed[]): [string, () => Promise<string | undefined>][] {
  return chosen.flatMap((style) => {
    const cells = deeds.filter(({ of }) => of?.(style) !== false).map((deed) => ({ style, deed }));
    const together = cells.filter(({ deed }) => style.isAlone !== true && deed.isAlone !== true);
    let all: Promise<readonly string[]> | undefined;
    return cells.map((cell): [string, () => Promise<string | undefined>] => [
      `${style.name}: ${cell.deed.name}`,
      async () => {
        const place = together.indexOf(cell);
        return place < 0 ? (await outcomesOf([cell]))[0] : (await (all ??= outcomesOf(together)))[place];
      },
    ]);
  });
}

describe('rows that are lost or come twice are told of', () => {
  test.each(series(losses))('%s', async (_name, outcome) => {
    expect(await outcome()).toMatch(/^(?:doubtful|error) /);
  });
});

describe('all rows, and no doubt', () => {
  test.each(series(sound))('%s', async (_name, outcome) => {
    expect(await outcome()).toMatch(new RegExp(`^(?:complete|ended) ${COUNT} rows$`));
  });
});
