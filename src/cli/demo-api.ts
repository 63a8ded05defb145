import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { RunError } from '../lib/errors.ts';
import { valued, type Command } from './command.ts';
import { portArg, portError } from './port.ts';

const PORT = '8400';

export const demoApiCommand: Command = {
  name: 'demo-api',
  describe: 'Serve a small example API on this machine, to try things with',
  options: {
    port: valued('PORT', 'Its port; 0 takes a free one', { default: PORT }),
    save: valued(
      'DIR',
      'Make this folder first, with a config.json for the API; one that is there is left as it is',
    ),
  },
  examples: [
    ['gex demo-api --save my-api', 'Serve the API until Ctrl-C, and make my-api/config.json for it'],
    ['gex run --data my-api --storage none', 'All its books as tables, from another terminal'],
    ['gex demo-api --port 0', 'On a free port'],
  ],
  async run(args, io) {
    const { startLibraryApi } = await import('./demo/library-api.ts');
    const api = await startLibraryApi({
      port: portArg(args, 'port'),
      onRequest: ({ line, answer }) => io.note(`${line} → ${answer}`),
    }).catch((error: unknown) => {
      throw portError(error, '127.0.0.1', 'Choose another with --port; 0 takes a free one.');
    });
    try {
      io.print(`api       ${api.baseUrl}books`);
      const folder = args.text('save');
      if (folder !== undefined) io.print(`config    ${await save(folder, api.baseUrl)}`);
      io.note('Press Ctrl-C to end it.');
      if (!io.signal.aborted)
        await new Promise<void>((resolve) =>
          io.signal.addEventListener('abort', () => resolve(), { once: true }),
        );
      return 0;
    } finally {
      await api.close();
    }
  },
};

/** @throws {RunError} `command.invalid` for a folder that has a configuration already */
async function save(folder: string, baseUrl: string): Promise<string> {
  const file = path.join(folder, 'config.json');
  if (existsSync(file))
    throw new RunError('command.invalid', `${file} is there already, and is not overwritten.`, {
      hint: 'Name another folder with --save, or leave the option out.',
    });
  mkdirSync(folder, { recursive: true });
  const { writeFileAtomic } = await import('../engine/sink/atomic.ts');
  writeFileAtomic(file, `${JSON.stringify(configurationOf(baseUrl), null, 2)}\n`);
  return file;
}

function configurationOf(baseUrl: string): object {
  return {
    parameters: {
      api: {
        baseUrl,
        pagination: { method: 'response.param', responseParam: 'meta.next', queryParam: 'cursor' },
      },
      config: { outputBucket: 'library', jobs: [{ endpoint: 'books', dataField: 'books' }] },
    },
  };
}
