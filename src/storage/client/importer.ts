import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { getKey, isList, isObject, type Json } from '../../lib/json/index.ts';
import type { File } from '../protocol/index.ts';
import type { Api } from './api.ts';
import { multipartBody } from './multipart.ts';
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
