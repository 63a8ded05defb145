import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { getKey, isList, isObject, type Json } from '../../lib/json/index.ts';
import type { File } from '../protocol/index.ts';
import type { Api } from './api.ts';
import type { ImporterOptions } from './file-types.ts';
import { shaped } from './shape.ts';
import type { UploadBody } from './transfer/body.ts';
import { trimEnd } from '../../lib/trim.ts';

/** Sends a file to the importer as a form, in one stream (operation 2). */
export async function uploadByImporter(api: Api, body: UploadBody, options: ImporterOptions): Promise<File> {
  const { name, tags = [], isEncrypted = true, isPermanent, isPublic, notify, contentType, signal } = options;
  const flags = { isEncrypted, isPermanent, isPublic, notify };
  const fields: (readonly [string, string])[] = [
    ['name', name],
    ...Object.entries(flags).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value ? '1' : '0'] as const],
    ),
    ...tags.map((tag) => ['tags[]', tag] as const),
  ];
  const boundary = `form-${randomUUID()}`;
  const url = `${trimEnd(options.importUrl ?? (await importUrlOf(api, signal)), '/')}/upload-file`;
  const report = (bytes: number): void => {
    const progress = { direction: 'upload' as const, name, bytes, totalBytes: body.bytes };
    try {
      api.options.onProgress?.(progress);
      options.onProgress?.(progress);
    } catch (error) {
      broken.abort(error);
    }
  };
  // Content that can't be read, for example, is no failure of the network, and is not tried again.
  const broken = new AbortController();
  let current: Readable | undefined;
  // The runtime reads the body of a request that has failed to its end; that may be long.
  const leave = (): void => {
    const left = current;
    current = undefined;
    left?.destroy();
  };
  try {
    const json = await api.post({
      url,
      what: 'POST upload-file',
      headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
      openBody: () => {
        leave();
        const opened = (current = body.open());
        const content = watched(opened, (error) => {
          if (opened === current) broken.abort(error);
        });
        return multipartBody(boundary, fields, { name, contentType, content }, report);
      },
      signal: AbortSignal.any([broken.signal, ...(signal === undefined ? [] : [signal])]),
    });
    return shaped<File>(json, 'file', { id: 'number', name: 'string' });
  } finally {
    leave();
  }
}

/** From the index; a service that names none takes files at its own address. */
async function importUrlOf(api: Api, signal: AbortSignal | undefined): Promise<string> {
  const query = { exclude: 'components' };
  const index = await api.call({ method: 'GET', path: '', scope: 'plain', query, signal });
  const services = index !== undefined && isObject(index) ? getKey(index, 'services') : undefined;
  const list: readonly Json[] = services !== undefined && isList(services) ? services : [];
  const found = list.find((service) => isObject(service) && getKey(service, 'id') === 'import');
  const url = found !== undefined && isObject(found) ? getKey(found, 'url') : undefined;
  return typeof url === 'string' && URL.canParse(url) ? url : api.base;
}

async function* watched(
  content: Readable,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array, void> {
  try {
    for await (const chunk of content) yield chunk as Uint8Array; // a stream of bytes
  } catch (error) {
    onError(error);
    throw error;
  }
}

/** A file of a form. */
interface FormFile {
  readonly name: string;
  readonly contentType: string | undefined;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * The body of a form with one file under the name `data`, as it goes over the wire (RFC 7578). The fields come first, so
 * that they are known when the file arrives.
 *
 * @param onBytes told how much of the file was sent
 */
async function* multipartBody(
  boundary: string,
  fields: readonly (readonly [name: string, value: string])[],
  file: FormFile,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array, void> {
  const head = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"\r\n\r\n${value}\r\n`,
  );
  const type = file.contentType ?? 'application/octet-stream';
  const disposition = `form-data; name="data"; filename="${quoted(file.name)}"`;
  yield Buffer.from(
    `${head.join('')}--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${type}\r\n\r\n`,
  );
  let bytes = 0;
  for await (const chunk of file.content) {
    yield chunk;
    onBytes((bytes += chunk.length));
  }
  yield Buffer.from(`\r\n--${boundary}--\r\n`);
}

/** The signs that would end a name, escaped as browsers do it. */
function quoted(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
