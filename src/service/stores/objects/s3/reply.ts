import type { ObjectError } from '../errors.ts';
import type { S3Call } from './call.ts';
import { XML_DECLARATION, xmlText, type Element } from './xml.ts';

export type S3Headers = Readonly<Record<string, string | number | undefined>>;

/** Whom objects and uploads belong to: there is one owner, the service. */
export const OWNER: readonly Element[] = [
  ['ID', 'service'],
  ['DisplayName', 'service'],
];

export function sendEmpty(call: S3Call, status: number, headers: S3Headers = {}): void {
  setHeaders(call.response, headers);
  call.response.writeHead(status).end();
}

export function sendXml(call: S3Call, root: Element, headers: S3Headers = {}): void {
  const body = Buffer.from(XML_DECLARATION + xmlText(root));
  setHeaders(call.response, { ...headers, 'content-type': 'application/xml', 'content-length': body.length });
  call.response.writeHead(200).end(body);
}

export function setHeaders(response: S3Call['response'], headers: S3Headers): void {
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) response.setHeader(name, value);
}

export function errorElement(error: ObjectError, resource: string, requestId: string): Element {
  const facts = Object.entries(error.facts).map(([name, value]): Element => [name, value]);
  return [
    'Error',
    [
      ['Code', error.code],
      ['Message', error.message],
      ...facts,
      ['Resource', resource],
      ['RequestId', requestId],
    ],
  ];
}
