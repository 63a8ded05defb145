import { describe, expect, test } from 'vitest';
import { systemEnv } from '../../../src/lib/env.ts';
import type { Log } from '../../../src/lib/log.ts';
import { run } from '../../../src/runner/run.ts';
import { configOf, dataFolder, filesOf, startApi } from '../../cli/support.ts';
import { zipOf } from './zip.ts';

const env = { ...systemEnv, sleep: async () => {} };

interface Said {
  readonly type: string;
  readonly body: Uint8Array;
  readonly job?: object;
}

/** The table that a run makes of answers, and its warnings. */
async function made(
  ...pages: readonly Said[]
): Promise<{ readonly table?: string; readonly told: readonly string[] }> {
  const api = await startApi(({ url }, response) => {
    const page = pages[Number(url.searchParams.get('page') ?? 1) - 1];
    return response
      .writeHead(200, { 'Content-Type': page?.type ?? 'application/json' })
      .end(page?.body ?? '[]');
  });
  const job = { endpoint: 'books', dataType: 'books', ...pages[0]?.job };
  const paged = pages.length === 1 ? {} : { pagination: { method: 'pagenum' } };
  const told: string[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn: (text) => told.push(text),
    error: (text) => told.push(text),
  };
  const folder = dataFolder(configOf(api, [{ ...job, ...paged }]));
  await run({ dataFolder: folder, log, env });
  const table = filesOf(folder)['out/tables/library.books'];
  return {
    ...(table === undefined ? {} : { table }),
    told: told.filter((text) => /charset|UTF-8|U\+FFFD/.test(text)),
  };
}

const JSON_TEXT = '[{"id":1,"name":"café"}]';
const TABLE = '"id","name"\n"1","café"\n';
const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le');
const marked = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0xff, 0xfe]), bytes]);
const CSV = 'id,name\n1,café\n';
const XML = '<books><book><id>1</id><name>café</name></book></books>';

describe('an encoding that is declared', () => {
  test.each<[string, string, Uint8Array, object?]>([
    ['JSON', 'application/json; charset=iso-8859-1', latin(JSON_TEXT)],
    ['JSON, in quotes', 'application/json;charset="ISO-8859-1"', latin(JSON_TEXT)],
    ['JSON, in single quotes', "application/json; charset='windows-1252'", latin(JSON_TEXT)],
    ['JSON by an order mark', 'application/json', marked(utf16(JSON_TEXT))],
    ['JSON, without a mark', 'application/json; charset=utf-16le', utf16(JSON_TEXT)],
    ['JSON with the mark of UTF-8', 'application/json; charset=utf-8', Buffer.from(`\uFEFF${JSON_TEXT}`)],
    ['JSON lines', 'application/x-ndjson; charset=iso-8859-1', latin('{"id":1,"name":"café"}\n')],
    ['JSON lines by an order mark', 'application/x-ndjson', marked(utf16('{"id":1,"name":"café"}\n'))],
    ['CSV', 'text/csv; charset=iso-8859-1', latin(CSV)],
    ['CSV by an order mark', 'text/csv', marked(utf16(CSV))],
    ['CSV by an order mark in spite of the type', 'text/csv; charset=iso-8859-1', marked(utf16(CSV))],
    ['XML', 'application/xml; charset=iso-8859-1', latin(XML)],
    ['XML by its declaration', 'application/xml', latin(`<?xml version="1.0" encoding="iso-8859-1"?>${XML}`)],
    ['XML by an order mark', 'application/xml', marked(utf16(XML))],
    ['JSON in an archive', 'application/zip', zipOf([['a.json', marked(utf16(JSON_TEXT))]])],
  ])('is decoded: %s', async (_, type, body, job = {}) => {
    expect(await made({ type, body, job })).toEqual({ table: TABLE, told: [] });
  });

  test('has all its signs', async () => {
    const body = Buffer.from([0x5b, 0x22, 0x80, 0x93, 0xfc, 0x94, 0x22, 0x5d]);
    expect((await made({ type: 'application/json; charset=iso-8859-1', body })).table).toContain('€“ü”');
    const japanese = Buffer.from([0x5b, 0x22, 0x93, 0xfa, 0x96, 0x7b, 0x22, 0x5d]);
    expect((await made({ type: 'application/json; charset=shift_jis', body: japanese })).table).toContain(
      '日本',
    );
  });

  test('counts when rows are read again, as a column comes late', async () => {
    const late = latin('[{"id":2,"name":"thé","late":"ü"}]');
    const type = 'application/json; charset=iso-8859-1';
    expect(await made({ type, body: latin(JSON_TEXT) }, { type, body: late })).toEqual({
      table: '"id","name","late"\n"1","café",""\n"2","thé","ü"\n',
      told: [],
    });
  });

  test.each([
    ['application/json; charset=iso-8859-1', Buffer.from(JSON_TEXT), 'iso-8859-1'],
    ['application/json; charset=utf-16', Buffer.from(JSON_TEXT), 'utf-16'],
    ['application/x-ndjson; charset=windows-1251', Buffer.from(JSON_TEXT.slice(1, -1)), 'windows-1251'],
  ])('is not believed of JSON that is UTF-8: %s', async (type, body, charset) => {
    expect(await made({ type, body })).toEqual({
      table: TABLE,
      told: [`Content-Type names the charset “${charset}”, and the answers are UTF-8: they are read as that`],
    });
  });

  test.each([
    ['application/json; charset=gbk', JSON_TEXT],
    ['application/json; charset=utf-16le', JSON_TEXT],
    ['application/x-ndjson; charset=gbk', `${JSON_TEXT.slice(1, -1)}\n`],
  ])('does not count beside the order mark of UTF-8: %s', async (type, text) => {
    expect(await made({ type, body: Buffer.from(`\uFEFF${text}`) })).toEqual({ table: TABLE, told: [] });
  });

  test('is of no interest where all is ASCII', async () => {
    const body = Buffer.from('[{"id":1}]');
    expect(await made({ type: 'application/json; charset=iso-8859-1', body })).toEqual({
      table: '"id"\n"1"\n',
      told: [],
    });
  });
});

describe('an encoding that nobody knows is told of', () => {
  test.each([
    ['application/json', Buffer.from(JSON_TEXT)],
    ['application/x-ndjson', Buffer.from(JSON_TEXT.slice(1, -1))],
    ['text/csv', Buffer.from(CSV)],
    ['application/xml', Buffer.from(XML)],
  ])('%s', async (type, body) => {
    expect(await made({ type: `${type}; charset=utf-9`, body })).toEqual({
      table: TABLE,
      told: ['Content-Type names the charset “utf-9”, which is not known: the answers are read as UTF-8'],
    });
  });
});

describe('bytes that are no characters', () => {
  test.each([
    ['application/json', latin('[{"id":1,"name":\n"café"}]')],
    ['application/x-ndjson', latin('{"id":1,"name":"caf"}\n\xff{"id":1,"name":"caf\xe9\xfd"}')],
  ])('of UTF-8 are left out, and told with their place and number: %s', async (type, body) => {
    const { table, told } = await made({ type, body });
    expect(table).toMatch(/^"id","name"\n(?:"1","caf"\n)+$/);
    expect(told).toEqual([
      type === 'application/json'
        ? '1 byte of an answer is not UTF-8 and left out: the first is on page 1, line 2, column 5'
        : '3 bytes of an answer are not UTF-8 and left out: the first is on page 1, line 2, column 1',
    ]);
  });

  test('are told once for all pages of a job', async () => {
    const type = 'application/json';
    const body = latin('[{"id":1,"name":"café"}]');
    const good = Buffer.from(JSON_TEXT);
    expect((await made({ type, body: good }, { type, body }, { type, body })).told).toEqual([
      '2 bytes of 2 answers are not UTF-8 and left out: the first is on page 2, line 1, column 21',
    ]);
  });

  test.each(['application/json', 'application/x-ndjson'])(
    'of another encoding are seen in %s',
    async (type) => {
      const body = Buffer.from('{"id":1,"name":"\x93\xfa\x96\xff"}\n', 'latin1');
      const { table, told } = await made({
        type: `${type}; charset=shift_jis`,
        body,
        job: { dataField: '.' },
      });
      expect(table).toContain('日\uFFFD');
      expect(told).toEqual([
        expect.stringMatching(
          /^\d places? of an answer (?:is|are) not shift_jis and became U\+FFFD: the first is on page 1, line 1, column 18$/,
        ),
      ]);
    },
  );

  test.each([
    ['text/csv', latin(CSV), 'Line 2 (record 2): the text is not UTF-8'],
    [
      'text/csv; charset=shift_jis',
      Buffer.from('id,name\n1,\xff\xff\n', 'latin1'),
      'The CSV of the response is not shift_jis, on line 1',
    ],
    ['application/xml', latin(XML), 'The XML of the response is not utf-8'],
  ])('of %s are an error', async (type, body, message) => {
    await expect(made({ type, body })).rejects.toThrow(message);
  });
});
