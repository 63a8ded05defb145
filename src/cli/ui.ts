import path from 'node:path';
import { RunError } from '../lib/errors.ts';
import { flag, valued, type Args, type Command, type Io } from './command.ts';
import { consoleLink } from './console-link.ts';
import { openBrowser } from './open-browser.ts';
import { serve } from './serve.ts';
import type { DatabasePlace } from '../service/open/place.ts';
import { logOptions, openLog } from './shared.ts';

export const uiCommand: Command = {
  name: 'ui',
  describe: 'Open the console of a storage folder or a service in the browser, signed in',
  options: {
    dir: valued('DIR', 'The folder; it is made when missing', { default: 'storage' }),
    storage: valued(
      'URL',
      'The service at this address instead, with the token of KBC_TOKEN; or a PostgreSQL database that tables went straight into',
    ),
    port: valued(
      'N',
      'Port of the service that is started when none runs over the folder; 0 takes a free one',
      { default: '0' },
    ),
    'no-open': flag('Print the link, and open nothing'),
    ...logOptions,
  },
  examples: [
    ['gex ui', 'Look at ./storage: by the service that runs over it, else by one that is started for this'],
    ['gex ui --storage https://storage.example.com', 'A service elsewhere, with the token in KBC_TOKEN'],
    [
      'gex ui --storage postgres://me@localhost/tables',
      'By a service that is started for this over a database',
    ],
  ],
  async run(args, io) {
    const show = (url: string, code: string): void => {
      const link = consoleLink(url, code);
      io.print(link);
      io.note('The link signs in once, within ten minutes. “gex ui” makes another.');
      if (!args.isSet('no-open')) openBrowser(link);
    };
    const storage = args.text('storage');
    if (storage !== undefined) {
      const { readPlace } = await import('../service/open/place.ts');
      const place = readPlace({ storage, environment: process.env, secrets: io.secrets });
      if (place.kind === 'folder') return await showFolder(place.dir, args, io, show);
      if (place.kind === 'database') return await showDatabase(place, args, io, show);
      const token = (process.env['KBC_TOKEN'] ?? '').trim();
      if (token === '')
        throw new RunError('command.invalid', 'There is no token for the service.', {
          hint: 'Set the environment variable KBC_TOKEN to one of its tokens.',
        });
      show(storage, await codeOf({ url: storage, token }, io));
      return 0;
    }
    return await showFolder(args.text('dir') ?? 'storage', args, io, show);
  },
};

async function showFolder(
  storage: string,
  args: Args,
  io: Io,
  show: (url: string, code: string) => void,
): Promise<number> {
  const dir = path.resolve(storage);
  const [{ checkFolder, fileError }, { findHolder }, { localToken }] = await Promise.all([
    import('../service/open/folder.ts'),
    import('../service/stores/folder/lock.ts'),
    import('../service/stores/folder/local-token.ts'),
  ]);
  checkFolder(dir, { storage });
  try {
    const holder = await findHolder(dir);
    if (holder?.isInDatabase === true)
      throw new RunError('command.invalid', 'The metadata of that service is in a database.', {
        hint: `Open it with --storage ${holder.address ?? 'URL'}, and one of its tokens in KBC_TOKEN.`,
      });
    if (holder?.address !== undefined) {
      const reach = { url: holder.address, token: await localToken(dir) };
      show(holder.address, await codeOf(reach, io));
      return 0;
    }
    return await serve({ dir }, args, io, async (service, url) =>
      show(url, await service.newCode(await localToken(dir))),
    );
  } catch (error) {
    throw fileError(error, dir);
  }
}

async function showDatabase(
  place: DatabasePlace,
  args: Args,
  io: Io,
  show: (url: string, code: string) => void,
): Promise<number> {
  const { databaseOf, requireStorage, troubleOf } = await import('../service/open/database.ts');
  const database = databaseOf(place, {});
  try {
    await requireStorage(database, place, await openLog(args, io));
    return await serve({ database, isWhollyInDatabase: true }, args, io, async (service, url) =>
      show(url, await service.newCode(await service.commandToken())),
    );
  } catch (error) {
    throw troubleOf(error, place);
  }
}

/** Asks a service for a code by which a browser may sign in with the token. */
async function codeOf(reach: { readonly url: string; readonly token: string }, io: Io): Promise<string> {
  io.secrets.add(reach.token);
  const { StorageClient } = await import('../storage/client/index.ts');
  const client = new StorageClient({ ...reach, signal: io.signal, retry: { maxRetries: 2 } });
  try {
    return await client.consoleCode();
  } finally {
    client.close();
  }
}
