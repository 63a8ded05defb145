import { describe, expect, test } from 'vitest';
import { Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { checkCsv } from '../../../src/lib/csv/check.ts';
import { CsvError } from '../../../src/lib/csv/csv-error.ts';
import { decompressed } from '../../../src/lib/csv/decompress.ts';
import { createDialect } from '../../../src/lib/csv/dialect.ts';
import type { CsvCheckOptions, CsvReport } from '../../../src/lib/csv/check.ts';

async function check(
  chunks: Iterable<Uint8Array>,
  options: Partial<CsvCheckOptions> = {},
): Promise<{ data: string; report: CsvReport }> {
  const checked = checkCsv(chunks, { dialect: createDialect(), ...options });
  const parts: Uint8Array[] = [];
  for await (const chunk of checked.data) parts.push(chunk);
  return { data: Buffer.concat(parts).toString(), report: checked.report() };
}

describe('checkCsv', () => {
  test('passes the records on untouched, without BOM, ignored lines and header, however it is cut', async () => {
    const text = '\ufeffjunk "\n"id","na\r\nme"\r\n1,"x ""y"""\r\n2,\r\n';
    for (const size of [1, 2, 5, 1000]) {
      const bytes = Buffer.from(text);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      const { data, report } = await check(chunks, { hasHeader: true, ignoredLines: 1 });
      expect(data).toBe('1,"x ""y"""\r\n2,\r\n');
      expect(report).toMatchObject({
        header: ['id', 'na\r\nme'],
        records: 2,
        columns: 2,
        lineEnd: 'crlf',
        hasQuotedLineEnds: true,
      });
    }
  });

  test('a header without line end is a header, an empty file has none', async () => {
    expect((await check([Buffer.from('a,b')], { hasHeader: true })).report).toMatchObject({
      header: ['a', 'b'],
      records: 0,
    });
    expect((await check([], { hasHeader: true })).report).toMatchObject({ header: undefined, records: 0 });
  });

  test('more ignored lines than there are leave nothing', async () => {
    expect((await check([Buffer.from('a\nb\n')], { ignoredLines: 5 })).report.records).toBe(0);
  });

  test('lines are counted from the top of the file, ignored ones included', async () => {
    const checking = check([Buffer.from('x\ny\na,b\n1\n')], { hasHeader: true, ignoredLines: 2 });
    await expect(checking).rejects.toMatchObject({ problem: 'columns', line: 4, record: 2 });
  });

  test('columns told beforehand are expected of the first record', async () => {
    await expect(check([Buffer.from('1,2\n')], { columns: 3 })).rejects.toMatchObject({
      problem: 'columns',
      line: 1,
    });
  });

  test('a header of many megabytes is a forgotten quote, and refused before its names are read', async () => {
    const chunks = [Buffer.from('a,"'), Buffer.alloc(5 << 20, '"'), Buffer.from('"\n')];
    await expect(check(chunks, { hasHeader: true })).rejects.toMatchObject({
      message: 'Line 1 (record 1): the header has more than 4194304 bytes; a closing quote may be missing.',
    });
    expect((await check(chunks, { hasHeader: () => true })).report).toMatchObject({
      header: undefined,
      records: 1,
    });
  });

  test('a header of too many columns is refused with their number', async () => {
    for (const end of ['', '\n', '\n1,2,3\n']) {
      const checking = check([Buffer.from(`junk\na,b,c${end}`)], {
        hasHeader: true,
        ignoredLines: 1,
        maxColumns: 2,
      });
      await expect(checking).rejects.toMatchObject({
        problem: 'tooManyColumns',
        message: 'Line 2 (record 1): the header has 3 columns, the limit is 2.',
      });
    }
  });

  test('lets the event loop run while a large buffer is checked', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await check([Buffer.from('a,"b c",d\n'.repeat(3_000_000))]);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });
});

async function plain(...chunks: Uint8Array[]): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of decompressed(Readable.from(chunks))) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

describe('decompressed', () => {
  test('tells gzip by its first bytes, members in a row are one file', async () => {
    const packed = Buffer.concat([gzipSync('a,b\n'), gzipSync('1,2\n')]);
    expect(await plain(packed.subarray(0, 1), packed.subarray(1))).toBe('a,b\n1,2\n');
    expect(await plain(Buffer.from('a,b\n'))).toBe('a,b\n');
    expect(await plain()).toBe('');
  });

  test('refuses a zip archive, Zstandard and damaged gzip', async () => {
    await expect(plain(Buffer.from('PK\u0003\u0004rest'))).rejects.toBeInstanceOf(CsvError);
    await expect(plain(zstdCompressSync('a,b\n'))).rejects.toMatchObject({ problem: 'compression' });
    const packed = gzipSync('a,b\n'.repeat(100));
    await expect(plain(packed.subarray(0, packed.length - 10))).rejects.toMatchObject({
      problem: 'compression',
    });
    await expect(
      plain(Buffer.concat([packed.subarray(0, 15), Buffer.alloc(20, 0xff)])),
    ).rejects.toMatchObject({ problem: 'compression' });
  });
});
