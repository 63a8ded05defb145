import { createReadStream, existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';

export interface Asset {
  readonly body: Readable;
  readonly headers: Readonly<Record<string, string>>;
}

/** Files that `npm run build` has made of `console/`: a page, and hashed files beside it. */
export interface ConsoleFiles {
  /** Returns the text of the page; undefined when nothing was built. */
  page(): Promise<string | undefined>;
  /** Returns a file by its name, in the shortest form that is accepted; undefined when there is none. */
  asset(name: string, accepted: string): Promise<Asset | undefined>;
}

/** Returns the files of the console. @param dir default: that of this package */
export function consoleFiles(dir: string = ownFolder()): ConsoleFiles {
  return {
    page: async () => await readFile(path.join(dir, 'index.html'), 'utf8').catch(() => undefined),
    async asset(name, accepted) {
      const type = NAME.test(name) ? TYPES[path.extname(name)] : undefined;
      if (type === undefined) return undefined;
      for (const { ending, encoding } of FORMS) {
        if (encoding !== '' && !accepts(accepted, encoding)) continue;
        const file = path.join(dir, 'assets', name + ending);
        const stats = await stat(file).catch(() => undefined);
        if (stats?.isFile() !== true) continue;
        return {
          body: createReadStream(file),
          headers: {
            'content-type': type,
            'content-length': String(stats.size),
            vary: 'accept-encoding',
            ...(encoding === '' ? {} : { 'content-encoding': encoding }),
          },
        };
      }
      return undefined;
    },
  };
}

/** Names without a slash, and without a dot at the beginning: only files of the folder itself. */
const NAME = /^[\w-]+(?:\.[\w-]+)+$/;

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

const FORMS = [
  { ending: '.br', encoding: 'br' },
  { ending: '.gz', encoding: 'gzip' },
  { ending: '', encoding: '' },
];

function accepts(header: string, encoding: string): boolean {
  return header
    .split(',')
    .some((part) => part.split(';')[0]?.trim() === encoding && !/;\s*q=0(?:\.0*)?\s*$/.test(part));
}

/**
 * Finds the folder beside this file in the package, from any of its built files; from the sources, the one built
 * last.
 */
function ownFolder(): string {
  let at = import.meta.dirname;
  while (!existsSync(path.join(at, 'package.json')) && path.dirname(at) !== at) at = path.dirname(at);
  return path.join(at, 'dist', 'console');
}
