import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { StorageClient } from '../../src/storage/client/index.ts';
import { COMMAND } from '../support/processes.ts';

export interface Service {
  readonly url: string;
  readonly token: string;
  readonly client: StorageClient;
  /** A link that signs a browser in, once. */
  link(at: string): Promise<string>;
  stop(): Promise<void>;
}

/** The built command serves a folder, in a process of its own: what it does is not the work of the page. */
export async function startService(dir: string, token?: string): Promise<Service> {
  const ports = ['--port', '0', '--s3-port', '0', '--importer-port', '0'];
  const child = spawn(process.execPath, [COMMAND, 'serve', '--dir', dir, ...ports], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const printed = new Map<string, string>();
  const last = token === undefined ? 'token' : 'api';
  for await (const line of createInterface({ input: child.stdout })) {
    const [name = '', value = ''] = line.split(/\s+/);
    printed.set(name, value);
    if (name === last) break;
  }
  child.stdout.resume();
  const url = printed.get('api');
  if (url === undefined) throw new Error('the service did not start');
  const secret = token ?? printed.get('token') ?? '';
  const client = new StorageClient({ url, token: secret });
  return {
    url,
    token: secret,
    client,
    link: async (at) => `${url}${at}#code=${await client.consoleCode()}`,
    async stop() {
      client.close();
      child.kill('SIGTERM');
      await ended;
    },
  };
}
