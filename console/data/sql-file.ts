import { urlOf } from '../../src/storage/client/api-core.ts';
import { failureOf } from '../../src/storage/client/failure.ts';
import { BASE } from '../route/router.ts';
import { branch } from './client.ts';
import { endSession } from './session.ts';

/** Asks a query whose result is a file, and gives it to the browser to keep. */
export async function saveResult(query: string, format: 'csv' | 'jsonl' | 'parquet'): Promise<void> {
  const { origin } = window.location;
  const url = urlOf(origin + BASE, { method: 'POST', path: 'sql' }, branch.get());
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Console': '1' },
    credentials: 'same-origin',
    body: JSON.stringify({ query, format }),
  });
  if (response.status === 401) endSession();
  if (!response.ok) {
    const body = new Uint8Array(await response.arrayBuffer());
    const headers = Object.fromEntries(response.headers);
    const call = { what: 'POST sql', origin, attempts: 1 };
    throw failureOf({ status: response.status, headers, url, body }, call, { redact: (text) => text });
  }
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = `result.${format}`;
  link.click();
  // The browser has begun to store it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
