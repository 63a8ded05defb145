import { describe, expect, test } from 'vitest';
import {
  configOf,
  dataFolder,
  filesOf,
  startApi,
  startBuilt,
  startGex,
  type Running,
} from '../../cli/support.ts';

const PAGES = 80;
const ROWS = 1000;

/** A page of rows with lists, of which some need a table of their own. */
function page(number: number, isWrong: boolean): string {
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const id = number * ROWS + i;
    const lines = [0, 1].map(
      (line) => `{"article":"A-${id % 97}","price":${line + 0.5},"marks":[${line},"x"]}`,
    );
    const late = number === 60 && i === 5 ? ',"late":"here at last"' : '';
    return `{"id":${id},"name":"Zoë ${id}","sent":{"zip":"0${id}","at":[1,2]},"lines":[${lines.join(',')}]${late}}`;
  });
  // one row whose list is of another kind
  if (isWrong) rows[700] = '{"id":1,"name":"x","sent":{"zip":"0","at":[{"x":1}]},"lines":[]}';
  return `{"data":[${rows.join(',')}]}`;
}

const pages = new Map<string, string>();

/** The pages take longer to make than to extract. */
function madeOnce(number: number, isWrong: boolean): string {
  const key = `${number} ${isWrong}`;
  const made = pages.get(key) ?? page(number, isWrong);
  pages.set(key, made);
  return made;
}

interface Outcome {
  readonly code: number | null;
  readonly files: object;
  readonly said: readonly string[];
}

async function outcome(
  wrongPage: number | undefined,
  threads: string,
  start: (args: readonly string[], options: object) => Running = startGex,
): Promise<Outcome> {
  const api = await startApi(({ url }, response) => {
    const number = Number(url.searchParams.get('page') ?? 1);
    const body = number > PAGES ? '{"data":[]}' : madeOnce(number, number === wrongPage);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  const folder = dataFolder(
    configOf(api, [{ endpoint: 'orders', dataField: 'data' }], {
      api: { pagination: { method: 'pagenum' } },
    }),
  );
  const { code, stderr } = await start(
    ['run', '--data', folder, '--storage', 'none', '--log-format', 'json', '--log-level', 'info'],
    { env: { ...process.env, GEX_THREADS: threads } },
  ).ended;
  const said = stderr
    .replaceAll(folder, '')
    .split('\n')
    // one every ten seconds, on a machine that is busy
    .filter((line) => !line.includes(' goes on: '))
    .map((line) => line.replaceAll(/"(?:time|ms|timestamp|at)":[^,}]*|[\d,]+ rows\/s|http:\/\/[^/"]*/g, ''));
  const files = Object.fromEntries(
    Object.entries(filesOf(`${folder}/out`)).map(([name, text]) => [
      name,
      text.replaceAll(/"previousStart":\d+|http:\/\/[^/"]*/g, ''),
    ]),
  );
  return { code, files, said };
}

describe('threads that write the rows of large pages', () => {
  test('give the same tables, states, verdicts and words as none', { timeout: 240_000 }, async () => {
    const alone = await outcome(undefined, '0');
    expect(alone.code).toBe(0);
    expect(Object.keys(alone.files)).toContain('tables/library.orders_lines');
    for (const threads of ['1', '4']) expect(await outcome(undefined, threads)).toEqual(alone);
    expect(await outcome(undefined, '2', startBuilt)).toEqual(alone);
  });

  test('name the page that is wrong', { timeout: 120_000 }, async () => {
    const alone = await outcome(70, '0');
    expect(alone.code).not.toBe(0);
    expect(alone.said.join('\n')).toContain('Incompatible types in “orders.sent.at”');
    expect(alone.said.join('\n')).toContain('page 70');
    expect(await outcome(70, '2')).toEqual(alone);
  });

  test('are a number', async () => {
    const { code, said } = await outcome(undefined, 'many');
    expect(code).not.toBe(0);
    expect(said.join('\n')).toContain('GEX_THREADS is a number from 0 on, and not “many”.');
  });
});
