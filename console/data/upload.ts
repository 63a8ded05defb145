import type { File as StoredFile } from '../../src/storage/client/browser.ts';
import { failureOf } from '../../src/storage/client/failure.ts';
import { StorageError } from '../../src/errors.ts';
import { BASE } from '../route/router.ts';
import { endSession } from './session.ts';

export interface UploadOptions {
  readonly onProgress?: (part: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * Sends a file to the importer. The browser reads it from the disk as it goes; `fetch` would not tell how far it is.
 *
 * @throws {StorageError}
 */
export async function uploadFile(
  file: File,
  { onProgress, signal }: UploadOptions = {},
): Promise<StoredFile> {
  const form = new FormData();
  form.append('name', file.name);
  form.append('data', file, file.name);
  const request = new XMLHttpRequest();
  const abort = (): void => request.abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      request.open('POST', `${BASE}/upload-file`);
      request.setRequestHeader('X-Console', '1');
      request.upload.addEventListener('progress', ({ loaded, total }) =>
        onProgress?.(total === 0 ? 0 : loaded / total),
      );
      request.addEventListener('load', () => resolve());
      request.addEventListener('abort', () =>
        reject(new DOMException('The upload was stopped.', 'AbortError')),
      );
      request.addEventListener('error', () => reject(cut(file.name)));
      request.send(form);
    });
  } finally {
    signal?.removeEventListener('abort', abort);
  }
  const { status, responseText } = request;
  if (status === 200) return JSON.parse(responseText) as StoredFile; // as the service describes it
  if (status === 401) endSession();
  throw failureOf(
    {
      status,
      headers: { 'content-type': request.getResponseHeader('content-type') ?? '' },
      url: window.location.href,
      body: new TextEncoder().encode(responseText),
    },
    { what: 'POST upload-file', origin: window.location.origin, attempts: 1 },
    { redact: (text) => text },
  );
}

function cut(name: string): StorageError {
  return new StorageError('storage.unreachable', `The connection was cut while “${name}” was sent.`, {
    hint: 'Nothing was imported. Check that the service runs and that the file is as it was, and try again.',
    recovery: 'retry',
  });
}
