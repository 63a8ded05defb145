import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemEnv } from '../lib/env.ts';
import { ExtractorError, RunError } from '../lib/errors.ts';
import { adviceIn } from '../storage/protocol/advice.ts';
import type {
  Discovered,
  Discovery,
  DocumentSource,
  FromDocument,
  RecordedRequest,
  SecretStore,
  Source,
} from '../authoring/init/index.ts';
import type { LoginKeeper } from '../engine/http/auth/index.ts';
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
      "How to log in: 'bearer:$TOKEN', 'basic:USER:$PASSWORD', 'header:X-Api-Key=$KEY', 'query:api_key=$KEY', 'client:ID:$SECRET@https://id.example.com/token' or 'person:ID:$SECRET@LOGIN_URL,TOKEN_URL,SCOPES'; only the name of the variable is written",
    ),
    'max-requests': valued('COUNT', 'Requests that may be made; with --try, for each list', {
      default: String(MAX_REQUESTS),
    }),
    try: flag(
      'Ask for each list of a document, and write what was proved in place of what the document says',
    ),
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
    ['gex init openapi.yaml --out my-api --try', 'The same, each tried, with a table of what was proved'],
  ],
  async run(args, io) {
    const folder = args.text('out') ?? '.';
    const file = path.join(folder, 'config.json');
    if (!args.isSet('dry-run')) refuseToReplace(file, args);
    const { discover, isOfPerson, requestConfiguration, targetOf, SecretStore } =
      await import('../authoring/init/index.ts');
    const vault = new SecretStore(process.env);
    const source = await sourceOf(args);
    if (source.kind === 'document') return await concludeDocument(source, { args, io, file, vault });
    const command = source.kind === 'request' ? source.command : chosen(source.requests, args, io);
    const look = async (auth: string | undefined): Promise<Discovered> => {
      const target = targetOf(command, { auth, headers: args.list('header') }, vault);
      for (const value of vault.values) io.secrets.add(value);
      if (vault.unset.length > 0) throw unset(vault.unset);
      const configuration = requestConfiguration(target);
      return await discover({
        target,
        logins: isOfPerson(target.authentication)
          ? await loggedIn(configuration, { args, io, file, vault })
          : undefined,
        environment: vault.environment,
        maxRequests: countArg(args, 'max-requests') ?? MAX_REQUESTS,
        env: systemEnv,
        secrets: io.secrets,
        signal: io.signal,
        ...progressOf(io),
      }).finally(() => io.live(''));
    };
    const auth = args.text('auth');
    const found = await inWords(async () => {
      try {
        return await look(auth);
      } catch (error) {
        const answered = auth === undefined ? await askedLogin(error, io, vault) : undefined;
        if (answered === undefined) throw error;
        return await look(answered);
      }
    });
    if ('document' in found) return await concludeDocument(found, { args, io, file, vault });
    return await conclude(found.list, { args, io, file, missing: vault.missing });
  },
};

/** Asks for the login in the terminal, where the API wants one; undefined where nobody can be asked. */
async function askedLogin(error: unknown, io: Io, vault: SecretStore): Promise<string | undefined> {
  const advice = error instanceof ExtractorError ? adviceIn(error.details) : undefined;
  if (advice?.code !== 'login' || advice.isRefused || !io.isTerminal || !process.stdin.isTTY)
    return undefined;
  const { askLogin } = await import('./ask-login.ts');
  const { readHidden, readLine } = await import('./read-value.ts');
  if (advice.challenge !== undefined) io.note(`The API asks for: ${advice.challenge}`);
  return await askLogin(advice, async (question, { isSecret }) => {
    if (!isSecret) return await readLine(question, io);
    io.note(`${question}(it is not shown as you type)`);
    const typed = (await readHidden(io)).trim();
    if (vault.takeTyped(typed))
      io.note('There is no variable of that name: what was typed is taken as the secret itself.');
    return typed;
  });
}

/** Asks where the tables are to go; empty for the default, and where nobody can be asked. */
async function askedStorage(args: Args, io: Io): Promise<string> {
  if (args.isSet('json') || !io.isTerminal || !process.stdin.isTTY) return '';
  const { askStorage } = await import('./ask-storage.ts');
  const { readLine } = await import('./read-value.ts');
  return await askStorage(io, async (question) => await readLine(question, io));
}

/** Logs a person in, in the browser; the login is kept beside the configuration. */
async function loggedIn(
  configuration: AnyObject,
  { args, io, file, vault }: Omit<Conclusion, 'missing'> & { readonly vault: SecretStore },
): Promise<LoginKeeper> {
  if (args.isSet('dry-run'))
    throw new RunError('command.invalid', 'A person logs in to this API, and --dry-run keeps no login.', {
      hint: "Leave out --dry-run, or give an access token by --auth 'bearer:$API_TOKEN'.",
    });
  const { personLogin } = await import('./person-login.ts');
  return await personLogin(configuration, {
    folder: path.dirname(file),
    environment: vault.environment,
    io,
  });
}

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

const TYPED =
  'Columns get the types of their values, truth values as true and false: "types" of a job says it, and without it cells are texts.';

interface Conclusion {
  readonly args: Args;
  readonly io: Io;
  readonly file: string;
  /** Variables to be set before a run. */
  readonly missing: readonly string[];
}

async function conclude(given: Discovery, { args, io, file, missing }: Conclusion): Promise<number> {
  const { describeFinding, findingJson } = await import('./init-result.ts');
  const { withTypedJobs } = await import('../authoring/typed-jobs.ts');
  const found = { ...given, configuration: withTypedJobs(given.configuration) };
  const text = textOf(found.configuration);
  const isDry = args.isSet('dry-run');
  if (!isDry) write(file, text);
  if (args.isSet('json')) io.print(findingJson(found, { file: isDry ? undefined : file, missing }));
  else io.print(describeFinding(found, { width: io.width, missing }));
  if (isDry && !args.isSet('json')) io.print(`\n${text}`);
  if (!isDry) {
    io.note(`${file} is written.`);
    io.note(TYPED);
    const data = path.dirname(file) === '.' ? '' : ` --data ${path.dirname(file)}`;
    const storage = await askedStorage(args, io);
    io.note(`Go on with: gex run${data} --limit 2`);
    // To be pasted: a note would hide the user in an address.
    if (storage !== '') io.print(`Then, with its tables: gex run${data}${storage}`);
  }
  const { verdict } = found;
  return verdict === 'doubtful' || (args.isSet('strict') && verdict !== 'complete') ? 1 : 0;
}

/** Writes the configuration of a document as it is, or with --try as it was proved. */
async function concludeDocument(
  source: DocumentSource,
  { args, io, file, vault }: Omit<Conclusion, 'missing'> & { readonly vault: SecretStore },
): Promise<number> {
  const { describeDocument, documentJson, documentReport } = await import('./init-result.ts');
  const { selected } = await import('../authoring/init/index.ts');
  const document = args.isSet('try')
    ? await triedDocument(source, { args, io, file, vault })
    : source.document;
  const { withTypedJobs } = await import('../authoring/typed-jobs.ts');
  const left = selected(document, args.text('select'));
  const taken = { ...left, configuration: withTypedJobs(left.configuration) };
  if (taken.lists.length === 0) {
    const skipped = taken.skipped.slice(0, 5).map(({ what, why }) => `${what}: ${why}`);
    throw new RunError('command.invalid', 'The document describes no list that could be taken.', {
      lines: skipped,
    });
  }
  const text = textOf(taken.configuration);
  const isDry = args.isSet('dry-run');
  const report = path.join(path.dirname(file), 'init-report.json');
  const isReported = !isDry && args.isSet('try');
  if (!isDry) write(file, text);
  if (isReported) write(report, documentReport(taken));
  if (args.isSet('json')) io.print(documentJson(taken, isDry ? undefined : file));
  else io.print(describeDocument(taken, io.width));
  if (isDry && !args.isSet('json')) io.print(`\n${text}`);
  if (!isDry) {
    io.note(isReported ? `${file} and ${report} are written.` : `${file} is written.`);
    io.note(TYPED);
    const data = path.dirname(file) === '.' ? '' : ` --data ${path.dirname(file)}`;
    const storage = await askedStorage(args, io);
    if (storage !== '') io.print(`The tables of a whole run go there with: gex run${data}${storage}`);
    io.note(`Go on with: gex run${data} --row ${taken.lists[0]?.row ?? ''} --limit 2`);
  }
  const verdicts = taken.lists.map(({ attempt }) => attempt?.verdict ?? 'untried');
  if (args.isSet('strict')) return verdicts.every((verdict) => verdict === 'complete') ? 0 : 1;
  return verdicts.includes('doubtful') || verdicts.includes('failed') ? 1 : 0;
}

/** Asks for each list of a document that --select leaves. */
async function triedDocument(
  { described }: DocumentSource,
  { args, io, file, vault }: Omit<Conclusion, 'missing'> & { readonly vault: SecretStore },
): Promise<FromDocument> {
  const { configurationFrom, isOfPerson, tryLists, withLogin } = await import('../authoring/init/index.ts');
  const auth = args.text('auth');
  const known = auth === undefined ? described : await inWords(() => withLogin(described, auth, vault));
  for (const value of vault.values) io.secrets.add(value);
  const missing = [...vault.unset, ...known.login.variables.filter((name) => !vault.environment[name])];
  if (missing.length > 0) throw unset(missing);
  for (const name of known.login.variables) io.secrets.add(vault.environment[name] ?? '');
  const logins = isOfPerson(known.login.authentication)
    ? await loggedIn(configurationFrom(known).configuration, { args, io, file, vault })
    : undefined;
  const attempts = await tryLists(known, {
    logins,
    environment: vault.environment,
    maxRequests: countArg(args, 'max-requests') ?? MAX_REQUESTS,
    env: systemEnv,
    secrets: io.secrets,
    signal: io.signal,
    select: args.text('select'),
    ...progressOf(io),
  }).finally(() => io.live(''));
  return configurationFrom(known, attempts);
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
  const [are, them] = names.length > 1 ? ['are', 'them'] : ['is', 'it'];
  return new RunError('command.invalid', `${names.map((name) => `$${name}`).join(' and ')} ${are} not set.`, {
    hint: `Set ${them}, as in ${names[0] ?? 'API_TOKEN'}=… gex init …`,
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
