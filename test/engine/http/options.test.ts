import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import {
  cacheOption,
  caCertificateOption,
  clientCertificateOption,
  headersOption,
  httpOption,
  retryConfigOption,
  sshProxyOption,
} from '../../../src/engine/http/http-options.ts';

const options = {
  cacheOption,
  caCertificateOption,
  clientCertificateOption,
  headersOption,
  httpOption,
  retryConfigOption,
  sshProxyOption,
};

const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true });

function isValid(schema: keyof typeof options, value: unknown): boolean {
  return ajv.compile(options[schema])(value);
}

describe('option schemas', () => {
  test.each(Object.entries(options))(
    '%s has a title, a description, and examples that it accepts, all the way down',
    (_name, schema) => {
      const missing: string[] = [];
      walk(schema, '', (node, path) => {
        if (typeof node['title'] !== 'string' || typeof node['description'] !== 'string') missing.push(path);
        const validate = ajv.compile(node);
        for (const example of [
          ...((node['examples'] as unknown[] | undefined) ?? []),
          ...('default' in node ? [node['default']] : []),
        ]) {
          if (!validate(example)) missing.push(`${path} ${JSON.stringify(example)}`);
        }
      });
      expect(missing).toEqual([]);
    },
  );

  test.each([
    [
      'httpOption',
      {
        connectTimeout: '10',
        requestTimeout: 0,
        ignoreErrors: ['404', 410],
        headers: [],
        defaultOptions: { params: [] },
      },
    ],
    ['httpOption', []],
    [
      'retryConfigOption',
      { maxRetries: '3', http: { codes: ['500', 429], retryHeader: 'X' }, curl: { codes: [6] } },
    ],
    ['retryConfigOption', { headerName: 'X', httpCodes: [1], curlCodes: [] }],
    ['caCertificateOption', null],
    ['sshProxyOption', { user: 'u', host: 'h', port: '22', '#privateKey': 'k' }],
    ['cacheOption', true],
    ['cacheOption', { ttl: '60' }],
  ] as const)('%s accepts %j', (schema, value) => {
    expect(isValid(schema, value)).toBe(true);
  });

  test.each([
    ['httpOption', { connectTimeout: 'soon' }],
    ['httpOption', { ignoreErrors: 404 }],
    ['httpOption', { requestsPerSecond: 0 }],
    ['httpOption', { concurrency: 0 }],
    ['retryConfigOption', { http: { codes: ['5xx'] } }],
    ['caCertificateOption', 5],
    ['sshProxyOption', { user: 'u', host: 'h', port: 70_000, '#privateKey': 'k' }],
    ['sshProxyOption', { user: 'u' }],
    ['cacheOption', { ttl: 'long' }],
  ] as const)('%s refuses %j', (schema, value) => {
    expect(isValid(schema, value)).toBe(false);
  });
});

type Node = Readonly<Record<string, unknown>>;

function walk(node: Node, path: string, visit: (node: Node, path: string) => void): void {
  visit(node, path);
  const properties = (node['properties'] ?? {}) as Record<string, Node>;
  for (const [key, child] of Object.entries(properties)) walk(child, `${path}.${key}`, visit);
}
