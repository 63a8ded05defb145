import { readCurlCommand, type CurlCommand } from '../actions/curl/command.ts';
import { ConfigError } from '../../lib/errors.ts';
import { isObject, parseExact, type Json } from '../../lib/json/index.ts';
import { ApiDocument, isApiDocument } from './openapi/document.ts';
import { configurationFrom, fromOpenApi, type Described, type FromDocument } from './openapi/configure.ts';
import { fromPostman, isPostman } from './postman.ts';
import { isHar, keysShown, requestsInHar, type RecordedRequest } from './requests.ts';
import { addressCommand } from './target.ts';

/** Source that a configuration is made from. */
export type ConfigurationSource =
  | { readonly kind: 'request'; readonly command: CurlCommand }
  | { readonly kind: 'recorded'; readonly requests: readonly RecordedRequest[] }
  | DocumentSource;

/** A document that describes an API, and the configuration that follows from it. */
export interface DocumentSource {
  readonly kind: 'document';
  readonly document: FromDocument;
  readonly described: Described;
}

/**
 * Understands a text of the command line: a curl command, else an address.
 *
 * @throws {ActionError} for a curl command that cannot be read
 */
export function readSource(text: string): ConfigurationSource {
  const bare = text.trim();
  if (/^(?:[$%>#]\s+)?curl(?:\.exe)?\s/i.test(bare))
    return { kind: 'request', command: readCurlCommand(bare) };
  return { kind: 'request', command: addressCommand(withScheme(bare)) };
}

/**
 * Understands the content of a file: a HAR file, an OpenAPI document, a Postman collection, or a curl command.
 *
 * @param from name of the file, or address, for messages and for servers that are relative to it
 * @throws {ConfigError} `config.invalid` for anything else
 */
export async function readContent(text: string, from: string): Promise<ConfigurationSource> {
  if (/^\s*(?:[$%>#]\s+)?curl(?:\.exe)?\s/i.test(text)) return readSource(text);
  const value = await documentValue(text, from);
  const document = documentIn(value, from);
  if (document !== undefined) return document;
  if (isHar(value)) return { kind: 'recorded', requests: requestsInHar(value) };
  throw new ConfigError('config.invalid', `${from} is none of the documents that are understood.`, {
    where: { file: from },
    hint: [
      isObject(value) ? `It has the keys ${keysShown(value)}.` : 'It is no JSON or YAML object.',
      'Give a HAR file, an OpenAPI or Swagger document, a Postman collection, or a file with a curl command.',
    ],
  });
}

/** Returns the configuration of a document that describes an API; undefined for anything else. */
export function documentIn(value: Json, from: string): DocumentSource | undefined {
  const described = isApiDocument(value)
    ? fromOpenApi(new ApiDocument(value), from)
    : isPostman(value)
      ? fromPostman(value)
      : undefined;
  return described === undefined
    ? undefined
    : { kind: 'document', document: configurationFrom(described), described };
}

/**
 * Reads JSON, else YAML.
 *
 * @param from name of the file, or address, for messages
 * @throws {ConfigError} `config.invalid` for what is neither
 */
export async function documentValue(text: string, from: string): Promise<Json> {
  const bare = text.replace(/^\uFEFF/, '');
  if (/^\s*[[{]/.test(bare)) {
    try {
      return parseExact(bare);
    } catch (cause) {
      throw unreadable(from, cause);
    }
  }
  try {
    const { parse } = await import('yaml');
    // the values of YAML's core schema are those of JSON, but for what its text form does not say
    return parseExact(JSON.stringify(parse(bare, { schema: 'core', merge: true }) ?? null));
  } catch (cause) {
    throw unreadable(from, cause);
  }
}

function unreadable(from: string, cause: unknown): ConfigError {
  const why = cause instanceof Error ? (cause.message.split('\n', 1)[0] ?? '') : '';
  return new ConfigError('config.invalid', `${from} is neither JSON nor YAML: ${why}`, {
    where: { file: from },
    cause,
    hint: 'Give a HAR file, an OpenAPI or Swagger document, a Postman collection, or a file with a curl command.',
  });
}

/** Adds a scheme to an address without one: https, but http on this machine. */
function withScheme(address: string): string {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return address;
  return `${/^(?:localhost|127\.|\[::1\])/i.test(address) ? 'http' : 'https'}://${address}`;
}
