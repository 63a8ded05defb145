import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemEnv } from '../lib/env.ts';
import { RunError } from '../lib/errors.ts';
import type { Discovery, FromDocument, RecordedRequest, Source } from '../authoring/init/index.ts';
import type { AnyObject } from '../lib/json/index.ts';
import { guard } from '../engine/sink/file-error.ts';
import { flag, listed, valued, type Args, type Command, type Io } from './command.ts';
import { countArg } from './shared.ts';

const MAX_REQUESTS = 12;

export const initCommand: Command = {
  name: 'init',
  describe: 'Look at an API, find its rows and how its pages follow, and write config.json',
  words: [
    {
      name: 'source',
      describe: 'An address, a curl command in quotes, or a file: HAR, OpenAPI, Postman; - is stdin',
      isRequired: true,
    },
  ],
  options: {
    select: valued('TEXT', 'Of a file with several lists, those that have this in their address'),
    header: listed("'NAME: VALUE'", 'A header of every request; may be given several times'),
    auth: valued(
      'LOGIN',
      "How to log in: 'bearer:$TOKEN', 'basic:USER:$PASSWORD', 'header:X-Api-Key=$KEY' or 'query:api_key=$KEY'; only the name of the variable is written",
    ),
    'max-requests': valued('COUNT', 'Requests that may be made', { default: String(MAX_REQUESTS) }),
    out: valued('DIR', 'The folder that gets config.json', { default: '.' }),
    force: flag('Replace a config.json that is there'),
    'dry-run': flag('Show the configuration, and write nothing'),
    strict: flag('Fail also where the end was not reached, or nothing says that it has everything'),
    json: flag('Print all that was found as JSON'),
  },
  examples: [
    ['gex init https://api.example.com/v1/users --out my-api', 'Find out how to get all users'],
    [
      "gex init https://api.example.com/v1/users --auth 'bearer:$API_TOKEN'",
      'With the token in the environment',
    ],
    ['gex init - < request.txt', 'From a curl command that a browser has copied'],
    ['gex init openapi.yaml --out my-api', 'All lists that a document describes'],
  ],
  async run(args, io) {
    const folder = args.text('out') ?? '.';
    const file = path.join(folder, 'config.json');
    if (!args.isSet('dry-run')) refuseToReplace(file, args);
    const { discover, targetOf, SecretStore } = await import('../authoring/init/index.ts');
    const vault = new SecretStore(process.env);
    const source = await sourceOf(args);
    if (source.kind === 'document') return await concludeDocument(source.document, { args, io, file });
    const command = source.kind === 'request' ? source.command : chosen(source.requests, args, io);
    const given = { auth: args.text('auth'), headers: args.list('header') };
    const target = await inWords(() => targetOf(command, given, vault));
    for (const value of vault.values) io.secrets.add(value);
    if (vault.unset.length > 0) throw unset(vault.unset);
    const looking = {
      target,
      environment: vault.environment,
      maxRequests: countArg(args, 'max-requests') ?? MAX_REQUESTS,
      env: systemEnv,
      secrets: io.secrets,
      signal: io.signal,
      ...progressOf(io),
    };
    const found = await inWords(() => discover(looking)).finally(() => io.live(''));
    if ('document' in found) return await concludeDocument(found.document, { args, io, file });
    return await conclude(found.list, { args, io, file, missing: vault.missing });
  },
};

/** Adds a hint with helpful options to errors of the work. */
async function inWords<T>(work: () => Promise<T> | T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { withHint } = await import('./init-words.ts');
    throw withHint(error);
  }
}

/** Reads the source: a file, a text, or the word itself. */
async function sourceOf(args: Args): Promise<Source> {
  const { readContent, readSource } = await import('../authoring/init/index.ts');
  const word = args.word('source');
  if (word === '-') return await readContent(await stdin(), 'stdin');
  if (existsSync(word) && statSync(word).isFile()) {
    const text = guard(word, () => readFileSync(word, 'utf8'));
    return await readContent(text, word);
  }
  if (/^[^:?]*\.(?:har|ya?ml|json)$/i.test(word))
    throw new RunError('command.invalid', `There is no file ${word}.`, {
      hint: 'Give the path of a file, or an address with https:// in front.',
    });
  return readSource(word);
}

/** Returns the request of a file with several that --select names, else the one with most rows. */
function chosen(requests: readonly RecordedRequest[], args: Args, io: Io): RecordedRequest['command'] {
  const wanted = args.text('select');
  const [first, ...others] = requests.filter(({ what }) => wanted === undefined || what.includes(wanted));
  if (first === undefined)
    throw new RunError(
      'command.invalid',
      wanted === undefined
        ? 'No answer in the file is a list of rows.'
        : `No list in the file has “${wanted}” in its address.`,
      {
        hint:
          requests.length === 0
            ? 'Record it with the network tab open while the page loads its data, and save it with contents.'
            : `The lists are: ${requests.map(({ what }) => io.secrets.redactUrl(what)).join(', ')}.`,
      },
    );
  if (others.length > 0)
    io.note(
      `Of ${requests.length} lists in the file ${first.what} is taken. --select TEXT chooses another: ${others.map(({ what }) => what).join(', ')}`,
    );
  return first.command;
}

interface Conclusion {
  readonly args: Args;
  readonly io: Io;
  readonly file: string;
  /** Variables to be set before a run. */
  readonly missing: readonly string[];
}

async function conclude(found: Discovery, { args, io, file, missing }: Conclusion): Promise<number> {
  const { describeFinding, findingJson } = await import('./init-result.ts');
  const text = textOf(found.configuration);
  const isDry = args.isSet('dry-run');
  if (!isDry) write(file, text);
  if (args.isSet('json')) io.print(findingJson(found, { file: isDry ? undefined : file, missing }));
  else io.print(describeFinding(found, { width: io.width, missing }));
  if (isDry && !args.isSet('json')) io.print(`\n${text}`);
  if (!isDry) {
    io.note(`${file} is written.`);
    const data = path.dirname(file) === '.' ? '' : ` --data ${path.dirname(file)}`;
    io.note(`Go on with: gex run${data} --limit 2`);
  }
  const { verdict } = found;
  return verdict === 'doubtful' || (args.isSet('strict') && verdict !== 'complete') ? 1 : 0;
}

/** Writes the configuration of a document as it is, without a request. */
async function concludeDocument(
  document: FromDocument,
  { args, io, file }: Omit<Conclusion, 'missing'>,
): Promise<number> {
  const { describeDocument, documentJson } = await import('./init-result.ts');
  const { selected } = await import('../authoring/init/index.ts');
  const taken = selected(document, args.text('select'));
  if (taken.lists.length === 0) {
    const skipped = taken.skipped.slice(0, 5).map(({ what, why }) => `${what}: ${why}`);
    throw new RunError('command.invalid', 'The document describes no list that could be taken.', {
      lines: skipped,
    });
  }
  const text = textOf(taken.configuration);
  const isDry = args.isSet('dry-run');
  if (!isDry) write(file, text);
  if (args.isSet('json')) io.print(documentJson(taken, isDry ? undefined : file));
  else io.print(describeDocument(taken, io.width));
  if (isDry && !args.isSet('json')) io.print(`\n${text}`);
  if (!isDry) {
    io.note(`${file} is written.`);
    const data = path.dirname(file) === '.' ? '' : ` --data ${path.dirname(file)}`;
    io.note(`Go on with: gex run${data} --row ${taken.lists[0]?.row ?? ''} --limit 2`);
  }
  return args.isSet('strict') ? 1 : 0;
}

function textOf(configuration: AnyObject): string {
  return `${JSON.stringify(configuration, null, 2)}\n`;
}

function refuseToReplace(file: string, args: Args): void {
  if (args.isSet('force') || !existsSync(file)) return;
  throw new RunError('command.invalid', `${file} is there already.`, {
    hint: 'Give --force to replace it, --out DIR for another folder, or --dry-run to write nothing.',
  });
}

function write(file: string, text: string): void {
  guard(file, () => {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  });
}

function unset(names: readonly string[]): RunError {
  return new RunError('command.invalid', `${names.map((name) => `$${name}`).join(' and ')} is not set.`, {
    hint: `Set it, as in ${names[0] ?? 'API_TOKEN'}=… gex init …`,
  });
}

/** Shows the progress: on a terminal in one line that changes, else in a line for each step. */
function progressOf(io: Io): { readonly onStep: (text: string) => void } {
  return { onStep: (text) => (io.isTerminal ? io.live(text) : io.note(`… ${text}`)) };
}

async function stdin(): Promise<string> {
  const { text } = await import('node:stream/consumers');
  return await text(process.stdin);
}
