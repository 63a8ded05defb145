import type { IncomingHttpHeaders } from 'node:http';
import { headerOf, type ApiRequest, type Headers } from '../../shared/message.ts';
import type { Target } from './target.ts';

const ASCII = /^[\t\x20-\x7e]*$/;

/** Returns header fields as the runtime takes them: text beyond ASCII as the bytes of its UTF-8. */
export function wireHeaders(request: ApiRequest, target: Target): Record<string, string | number> {
  const headers: Record<string, string | number> = {};
  let hasAuthorization = target.authorization === undefined;
  for (const name of Object.keys(request.headers)) {
    const value = request.headers[name] ?? '';
    headers[name] = ASCII.test(value) ? value : Buffer.from(value).toString('latin1');
    if (!hasAuthorization && name.toLowerCase() === 'authorization') hasAuthorization = true;
  }
  if (!hasAuthorization && target.authorization !== undefined)
    headers['Authorization'] = target.authorization;
  if (request.body !== undefined) {
    if (headerOf(request.headers, 'Content-Length') === undefined)
      headers['Content-Length'] = Buffer.byteLength(request.body);
  }
  return headers;
}

/** Returns names in lower case; repeated fields are joined by commas; UTF-8 is read where it is UTF-8. */
export function receivedHeaders(received: IncomingHttpHeaders): Headers {
  const headers: Record<string, string> = {};
  for (const name of Object.keys(received)) {
    const value = received[name];
    if (value === undefined) continue;
    const text = typeof value === 'string' ? value : value.join(', ');
    headers[name] = ASCII.test(text) ? text : decodeUtf8(text);
  }
  return headers;
}

function decodeUtf8(latin1: string): string {
  const text = Buffer.from(latin1, 'latin1').toString('utf8');
  return text.includes('\ufffd') ? latin1 : text;
}
