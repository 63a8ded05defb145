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
    ['as a text', `${rows}"not allowed"`, {}, 'error records.typeChange'],
    ['is none: texts alone', '"not allowed"', {}, 'ended'],
    ['is a page for people', '<html>\n<body>Log in</body>\n</html>', {}, 'error response.broken'],
    ['is a page for people behind rows', `${rows}<html></html>`, {}, 'error response.broken'],
    ['is none: a row has it', `${rows}{"id":3,"error":"no paper"}`, {}, 'ended'],
    ['is none: a message', `${rows}{"message":"hello","time":3}`, {}, 'ended'],
    ['is none: a thing with an id', '{"id":1,"error":"no paper"}', {}, 'ended'],
    ['is none: a total', `${wrapped}{"meta":{"total":2}}`, { dataField: 'row' }, 'complete'],
    ['but a total above', `${wrapped}{"meta":{"total":9}}`, { dataField: 'row' }, 'doubtful totalAbove'],
  ])('%s', async (_what, body, job, verdict) => {
    expect(await verdictOf(LINES, body, job)).toBe(verdict);
  });
});

const csv = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

describe('in CSV', () => {
  test.each<[string, string, string]>([
    ['an error alone', csv('error,message', '500,Internal error'), 'doubtful error'],
    ['an error behind the rows', csv('id', '1', '2', 'ERROR: query failed'), 'doubtful error'],
    ['an error that is a sentence', csv('id,name', '1,a', 'Error: query failed, sorry'), 'doubtful error'],
    ['an error in quotes', csv('id,name', '1,a', '"Error: query failed",'), 'doubtful error'],
    ['an error in the place of all rows', csv('id,name', 'Exception: sorry,'), 'doubtful error'],
    ['an error of fewer cells', csv('id,name', '1,a', 'Error: failed'), 'error response.broken'],
    ['an error in the place of all', csv('ERROR: query failed'), 'error response.broken'],
    ['none: a row that has more', csv('id,name', '1,a', 'Error: 5,b'), 'ended'],
    ['none: a log', csv('text,host', 'INFO: began,', 'ERROR: failed,'), 'ended'],
    ['none: a log with a last word', csv('text,host', 'INFO: began,', 'done,', 'ERROR: failed,'), 'ended'],
    ['none: before other rows', csv('id,name', 'Error: 5,', '2,b'), 'ended'],
    ['none: a name', csv('id,name', '1,a', 'error,'), 'ended'],
    ['its header again', csv('id,name', '1,a', 'id,name', '2,b'), 'doubtful headerAgain'],
    ['its header at the end', csv('id,name', '1,a', 'id,name'), 'doubtful headerAgain'],
    ['none: a half of it', csv('id,name', '1,a', 'id,b'), 'ended'],
    ['none: a word', csv('word', 'a', 'word', 'b'), 'ended'],
  ])('%s', async (_what, body, verdict) => {
    expect(await verdictOf('text/csv', body)).toBe(verdict);
  });

  test('a header that is written by the job is no row', async () => {
    const job = { csv: { header: ['id', 'name'] } };
    expect(await verdictOf('text/csv', csv('1,a', 'id,name', '2,b'), job)).toBe('doubtful headerAgain');
    expect(await verdictOf('text/csv', csv('id,name', '2,b'), job)).toBe('ended');
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
