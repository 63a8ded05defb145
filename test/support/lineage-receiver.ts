import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

interface Dataset {
  readonly namespace: string;
  readonly name: string;
  readonly facets: Readonly<Record<string, unknown>>;
  readonly outputFacets?: Readonly<Record<string, unknown>>;
}

interface Event {
  readonly eventType: string;
  readonly eventTime: string;
  readonly run: { readonly runId: string; readonly facets: Readonly<Record<string, unknown>> };
  readonly job: Dataset;
  readonly inputs: readonly Dataset[];
  readonly outputs: readonly Dataset[];
}

interface Got {
  readonly event: Event;
  readonly text: string;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
}

/** A receiver of OpenLineage events, until the end of the test; it answers nothing while it hangs. */
export async function receiver({ status = 201, hangs = false } = {}) {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      const { url, headers } = request;
      got.push({ event: JSON.parse(text) as Event, text, url, authorization: headers.authorization });
      if (!hangs) response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
