import { describe, expect, test } from 'vitest';
import { ExtractorError } from '../../../src/lib/errors.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, startApi } from '../../cli/support.ts';
import { zipOf } from '../formats/zip.ts';

/** The verdict on a job whose API has one answer, in another format than JSON. */
async function verdictOf(type: string, body: string | Uint8Array, job: object = {}): Promise<string> {
  const { url } = await startApi((_request, response) => {
    response.writeHead(200, { 'Content-Type': type }).end(body);
  });
  const folder = dataFolder(configOf(url, [{ endpoint: 'things', ...job }]));
  try {
    const { rows } = await run({ dataFolder: folder, log: silentLog });
    const report = rows[0]?.jobs[0];
    const codes = report?.doubtful.flatMap(({ doubts }) => doubts.map(({ code }) => code)) ?? [];
    return [report?.verdict, ...codes].join(' ');
  } catch (error) {
    if (error instanceof ExtractorError) return `error ${error.code}`;
    throw error;
  }
}

const rows = '{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n';
const wrapped = '{"row":{"id":1}}\n{"row":{"id":2}}\n';
const LINES = 'application/x-ndjson';

describe('an error in JSON lines', () => {
  test.each<[string, string, object, string]>([
    ['behind the rows', `${rows}{"error":"query timed out"}`, {}, 'doubtful error'],
    ['between them', `${rows}{"error":"shard gone"}\n{"id":3,"name":"c"}`, {}, 'doubtful error'],
    ['as a state', `${rows}{"status":"error","message":"timed out"}`, {}, 'doubtful error'],
    ['alone', '{"error":"over quota"}', {}, 'doubtful error'],
    ['beside the rows', `${wrapped}{"error":"query timed out"}`, { dataField: 'row' }, 'doubtful error'],
    ['is none: a row has it', `${rows}{"id":3,"error":"no paper"}`, {}, 'ended'],
    ['is none: a message', `${rows}{"message":"hello","time":3}`, {}, 'ended'],
    ['is none: a thing with an id', '{"id":1,"error":"no paper"}', {}, 'ended'],
    ['is none: a total', `${wrapped}{"meta":{"total":2}}`, { dataField: 'row' }, 'complete'],
    ['but a total above', `${wrapped}{"meta":{"total":9}}`, { dataField: 'row' }, 'doubtful totalAbove'],
  ])('%s', async (_what, body, job, verdict) => {
    expect(await verdictOf(LINES, body, job)).toBe(verdict);
  });
});

const of = (around: string): string => `<list>${around}<row><id>1</id></row><row><id>2</id></row></list>`;

describe('in XML', () => {
  const field = { dataField: 'list.row' };

  test.each([
    ['a total of OpenSearch', of('<os:totalResults xmlns:os="x">9</os:totalResults>'), 'doubtful totalAbove'],
    ['all of it', of('<os:totalResults xmlns:os="x">2</os:totalResults>'), 'complete'],
    ['a link of Atom', of('<link rel="next" href="/x?p=2"/>'), 'doubtful nextPage'],
    ['another link', of('<link rel="self" href="/x"/>'), 'ended'],
    [
      'several links',
      of('<link rel="self" href="/x"/><link rel="next" href="/x?p=2"/>'),
      'doubtful nextPage',
    ],
    ['a token of OAI', of('<resumptionToken cursor="0">abc</resumptionToken>'), 'doubtful nextPage'],
    ['the end of OAI', of('<resumptionToken completeListSize="2" cursor="0"/>'), 'complete'],
  ])('%s', async (_what, body, verdict) => {
    expect(await verdictOf('application/xml', body, field)).toBe(verdict);
  });

  test('a page for people is an error', async () => {
    const page = '<html><body><p>Log in</p></body></html>';
    expect(await verdictOf('text/html', page, { format: 'xml' })).toBe('error response.broken');
    const table = '<html><table><tr><td>1</td></tr></table></html>';
    expect(await verdictOf('text/html', table, { format: 'xml', dataField: 'html.table.tr' })).toBe('ended');
  });
});

test.each(['<!-- 1 -->\n<html>', '<head><title>Log in</title></head>', '<Error><Code>Denied</Code></Error>'])(
  'a page in the place of CSV is an error: %s',
  async (body) => {
    expect(await verdictOf('text/csv', body)).toBe('error response.broken');
  },
);

test.each<[string, object[], string]>([
  ['a total', [{ items: [{ id: 1 }], total: 9 }], 'doubtful totalAbove'],
  ['an error in a file without rows', [{ items: [{ id: 1 }] }, { error: 'shard gone' }], 'doubtful error'],
  ['rows', [{ items: [{ id: 1 }] }, { items: [{ id: 2 }] }], 'ended'],
])('JSON in a zip file has %s', async (_what, documents, verdict) => {
  const zip = zipOf(documents.map((document, i) => [`${i}.json`, Buffer.from(JSON.stringify(document))]));
  expect(await verdictOf('application/zip', zip, { dataField: 'items' })).toBe(verdict);
});
