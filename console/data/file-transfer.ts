import { failureOf } from '../../src/storage/client/failure.ts';
import { BASE, at } from '../route/router.ts';
import { StorageError, type File as StoredFile } from './client.ts';
import { noteContact } from './contact.ts';
import { endSession } from './session.ts';

/** Returns the address of a file's content, for a link with the session; a sliced file comes with its slices joined. */
export const contentAddress = (id: number): string => `${BASE}/v2/storage${at`/files/${id}/content`}`;

export interface UploadOptions {
  readonly tags?: readonly string[];
  /** Told how much of it is sent, from 0 to 1. */
  readonly onProgress?: (part: number) => void;
  readonly signal?: AbortSignal;
}

/** Sends a file of this machine through the service; the browser reads it from the disk piece by piece. */
export async function uploadFile(
  file: File,
  { tags = [], onProgress, signal }: UploadOptions = {},
): Promise<StoredFile> {
  const form = new FormData();
  form.append('name', file.name);
  for (const tag of tags) form.append('tags[]', tag);
  // Last: what is said about it is known when it arrives.
  form.append('data', file, file.name);
  return await new Promise((resolve, reject) => {
    // `fetch` does not tell how far an upload is.
    const request = new XMLHttpRequest();
    request.open('POST', `${BASE}/upload-file`);
    request.setRequestHeader('X-Console', '1');
    request.setRequestHeader('Accept', 'application/json');
    request.upload.addEventListener('progress', ({ loaded, total }) =>
      onProgress?.(total === 0 ? 0 : loaded / total),
    );
    request.addEventListener('load', () => {
      noteContact(true);
      if (request.status === 200) {
        resolve(JSON.parse(request.responseText) as StoredFile); // of our own service
        return;
      }
      if (request.status === 401) endSession();
      reject(failed(request));
    });
    request.addEventListener('error', () => {
      noteContact(false);
      reject(
        new StorageError('storage.unreachable', `The connection was cut while “${file.name}” was sent.`, {
          hint: 'Nothing of it is kept. Check that the service runs and that the file is as it was, and send it again.',
          recovery: 'retry',
        }),
      );
    });
    request.addEventListener('abort', () => reject(new DOMException('The upload was ended.', 'AbortError')));
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(form);
  });
}

function failed(request: XMLHttpRequest): StorageError {
  const response = {
    status: request.status,
    headers: { 'content-type': request.getResponseHeader('content-type') ?? '' },
    url: request.responseURL,
    body: new TextEncoder().encode(request.responseText),
  };
  const call = { what: 'POST upload-file', origin: window.location.origin, attempts: 1 };
  return failureOf(response, call, { redact: (text) => text });
}
