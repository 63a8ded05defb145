import { describe, expect, test } from 'vitest';
import { encodeBody } from '../../../src/engine/http/body.ts';
import type { JobRequest } from '../../../src/engine/shared/message.ts';
import { buildRequest, type RequestOptions } from '../../../src/engine/http/request.ts';
import { parseExact } from '../../../src/lib/json/index.ts';
import { escapeXml } from '../../../src/lib/escapes.ts';

const OPTIONS: RequestOptions = { baseUrl: 'http://h/', headers: { 'Content-Type': 'x/y' } };

function built(part: Partial<JobRequest>) {
  return buildRequest({ endpoint: 'a', method: 'POST', params: {}, headers: {}, ...part }, OPTIONS);
}

describe('a body', () => {
  test('that is an object takes in the parameters, over its own', () => {
    const { url, body } = built({ params: { page: 2 }, query: { v: 1 }, body: { page: 1, of: {} } });
    expect([url, body]).toEqual(['http://h/a?v=1', '{"page":2,"of":{}}']);
  });

  test('that is a list or a text leaves the parameters to the query', () => {
    for (const body of [[1], 'select 1'])
      expect(built({ params: { page: 2 }, body, query: { v: 1 } }).url).toBe('http://h/a?page=2&v=1');
  });

  test('is sent by any method, and its parameters are where the method has them', () => {
    expect(built({ method: 'GET', params: { n: 1 }, body: { q: 1 } })).toMatchObject({
      url: 'http://h/a?n=1',
      body: '{"q":1}',
    });
  });

  test('that is empty is sent as it is', () => {
    expect(built({ body: {} }).body).toBe('{}');
    expect(built({ body: [] }).body).toBe('[]');
  });

  test('has the type that the job names, in any spelling', () => {
    const headers = { 'Content-Type': 'text/xml' };
    expect(built({ body: '<a/>', headers }).headers['Content-Type']).toBe('text/xml');
    expect(built({ body: '<a/>', bodyFormat: 'xml' }).headers['Content-Type']).toMatch(/^application\/xml/);
    expect(built({ body: {}, bodyFormat: 'multipart', headers }).headers['Content-Type']).toMatch(
      /^multipart/,
    );
  });

  test('of parameters is written in the format that is asked for', () => {
    expect(built({ params: { a: ['x y'] }, bodyFormat: 'form' }).body).toBe('a%5B0%5D=x+y');
    expect(built({ params: { a: 1 }, bodyFormat: 'multipart' }).body).toContain('name="a"\r\n\r\n1\r\n');
  });
});

describe('multipart', () => {
  test('is the same bytes for the same parts, and its boundary is in none of them', () => {
    const first = encodeBody({ a: 'x' }, 'multipart');
    expect(encodeBody({ a: 'x' }, 'multipart')).toEqual(first);
    const boundary = first.contentType.split('boundary=')[1] ?? '';
    const other = encodeBody({ a: `--${boundary}--` }, 'multipart');
    expect(other.contentType).not.toContain(boundary);
  });

  test('names and types cannot begin a header of their own', () => {
    const { body } = encodeBody({ 'a"\r\nX: 1': 1 }, 'multipart');
    expect(body).toContain('name="a%22%0D%0AX: 1"');
    expect(() => encodeBody({ a: { content: 1, contentType: 'a\r\nX: 1' } }, 'multipart')).toThrow(
      /line break/,
    );
  });

  test('needs an object', () => {
    expect(() => encodeBody([1], 'multipart')).toThrow(/object of parts/);
    expect(() => encodeBody('text', 'multipart')).toThrow(/object of parts/);
  });
});

describe('XML', () => {
  test('has attributes, texts, repeated and empty elements', () => {
    expect(xml('{"a": {"@b": 1, "c": ["x", {"@d": "\\"<"}], "e": null, "f": false, "#text": "&"}}')).toBe(
      '<a b="1"><c>x</c><c d="&quot;&lt;"/><e/><f>false</f>&amp;</a>',
    );
    expect(xml('{"a": 12345678901234567890}')).toBe('<a>12345678901234567890</a>');
  });

  test.each([
    '{"a": 1, "b": 2}',
    '[1]',
    '{"a": [1, 2]}',
    '{"a b": 1}',
    '{"a": {"1": 1}}',
    '{"a": {"@b": [1]}}',
  ])('%s is refused', (json) => expect(() => encodeBody(parseExact(json), 'xml')).toThrow(/XML/));

  test('characters that it does not have are left out', () => {
    expect(escapeXml('a\u0000\u000bb\uffff<')).toBe('ab&lt;');
  });
});

function xml(json: string): string {
  return encodeBody(parseExact(json), 'xml').body.split('\n')[1] ?? '';
}
