import { systemEnv } from '../lib/env.ts';
import { ERROR_CODES, RunError, type ErrorCode } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { shellWord } from '../lib/shell-word.ts';
import type { Run } from '../storage/client/index.ts';
import type { OpenStorage } from '../service/open/index.ts';
import type { Args, Io } from './command.ts';
import { formatCount } from './format.ts';
import { periodArg } from './period-options.ts';
import { followRun, type Ways } from './follow-run.ts';
import { openLogLines } from './log-line.ts';
import { describeTables } from './run-result.ts';
import { openLog } from './shared.ts';
import { storedArg } from './stored-arg.ts';
import { isoTime } from '../lib/iso-time.ts';

/** Starts a run in the service, or takes one that is there, and shows it to its end. @returns 0 for a good one */
export async function runRemote(args: Args, io: Io): Promise<number> {
  const log = await openLog(args, io);
  const { openStorage } = await import('../service/open/index.ts');
  const storage = args.text('storage') ?? 'storage';
  const period = await periodArg(args, systemEnv.now());
  const opened = await openStorage({
    storage,
    environment: process.env,
    branch: args.text('branch'),
    log,
    signal: io.signal,
    secrets: io.secrets,
    purpose: 'run a configuration',
    mustExist: true,
  });
  try {
    if (!opened.isServed)
      throw new RunError('command.invalid', `No service runs over the folder ${storage}.`, {
        hint: 'Start one with gex serve, or leave --remote out: the configuration then runs in this process.',
      });
    const id = await chosenRun(args, opened, { period, log });
    const ways = waysTo(args, id);
    log.info(`To follow it again: ${ways.follow}; to end it: ${ways.cancel}`);
    const follow = { id, ways, log, show: openLogLines(args, io), env: systemEnv, signal: io.signal };
    return await conclude(await followRun(opened.client.runs, follow), args, io);
  } finally {
    await opened.close();
  }
}

async function chosenRun(
  args: Args,
  { client }: OpenStorage,
  { period, log }: { readonly period: Awaited<ReturnType<typeof periodArg>>; readonly log: Log },
): Promise<string> {
  const [follow, cancel] = [args.text('follow'), args.text('cancel')];
  if (follow !== undefined) return follow;
  if (cancel !== undefined) {
    await client.runs.cancel(cancel);
    log.info(`The end of the run ${cancel} was requested`);
    return cancel;
  }
  const stored = storedArg(args);
  if (stored === undefined) throw new Error('The configuration is not named.');
  const rows = args.list('row');
  const { id } = await client.runs.start({
    component: stored.component,
    configuration: stored.configuration,
    ...(rows.length === 0 ? {} : { rows: [...rows] }),
    ...(period === undefined ? {} : { from: isoTime(period.from) }),
    // “Now” is when the run begins, unless a time is given.
    ...(period === undefined || args.text('to') === undefined ? {} : { to: isoTime(period.to) }),
    ...(args.isSet('restart') ? { restart: true } : {}),
  });
  log.info(`The service runs configuration ${stored.configuration} as run ${id}`);
  return id;
}

/** Commands that can be pasted. */
function waysTo(args: Args, id: string): Ways {
  const places = (['storage', 'branch'] as const).flatMap((name) => {
    const value = args.text(name);
    return value === undefined ? [] : [` --${name} ${shellWord(value)}`];
  });
  const of = (way: string): string => `gex run --remote --${way} ${shellWord(id)}${places.join('')}`;
  return { follow: of('follow'), cancel: of('cancel') };
}

async function conclude(run: Run, args: Args, io: Io): Promise<number> {
  const { rows = [], error: told, status } = run;
  const error = errorOf(run);
  if (args.isSet('json')) {
    const { formatJson } = await import('../lib/json/format-json.ts');
    const asked = error === undefined ? {} : { error: told ?? { code: error.code, message: error.message } };
    io.print(formatJson({ status: error === undefined ? 'success' : status, run: run.id, rows, ...asked }));
  } else if (rows.length > 0 || error === undefined) {
    const lines = rows.flatMap(({ id = '', tables }) =>
      tables.map(({ name, rows: count, destination = '' }) => ({
        row: id,
        table: name,
        rows: formatCount(count),
        file: '',
        'pushed to': destination,
      })),
    );
    io.print(describeTables(lines));
  }
  if (error !== undefined) throw error;
  return 0;
}

/** Returns the error that a run in this process would have ended with. */
function errorOf({ id, status, error }: Run): RunError | undefined {
  if (status === 'success') return undefined;
  if (error === null)
    return new RunError('run.interrupted', `The run ${id} was cancelled.`, {
      hint: 'Start it again: it goes on where it was.',
    });
  const { code, message, hint, audience, where } = error;
  return new RunError(isCode(code) ? code : 'internal', message, {
    audience,
    hint,
    // As this program wrote it.
    where: where as RunError['where'] | undefined,
  });
}

function isCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code);
}
