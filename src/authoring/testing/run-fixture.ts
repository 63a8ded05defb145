import { cpSync, existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import {
  collectSecrets,
  planRows,
  readConfig,
  resolveSecrets,
  resourceOf,
} from '../../engine/config/index.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import { extract } from '../../engine/extract/extract.ts';
import type { Send } from '../../engine/shared/message.ts';
import type { Log, LogFields } from '../../lib/log.ts';
import { decryptorFor } from '../../runner/decrypt.ts';
import { stateParts } from '../../runner/state-parts.ts';
import { Secrets } from '../../lib/secrets.ts';
import { readState } from '../../engine/sink/state.ts';
import type { JobReport } from '../../engine/completeness/index.ts';
import { fixtureEnv, type FixtureEnv } from './clock.ts';
import { readExchanges, type ExampleExchange } from './exchanges.ts';
import { compareOutcome } from './expectation.ts';
import type { FixtureResult } from './result.ts';
import { startServer } from './server.ts';
import { readSettings, type FixtureSettings } from './fixture-settings.ts';
import { Tape } from './tape.ts';
import { reasonOf } from '../../lib/errors.ts';

export interface RunFixtureOptions {
  readonly signal: AbortSignal;
  /** Exchanges of other fixtures, for examples that ask for them; see `runFixtures`. */
  readonly shared: readonly ExampleExchange[];
  /** In place of a `fixture.json`. */
  readonly settings?: FixtureSettings;
}

/** Runs one fixture and compares. Only an abort makes it throw: what is wrong with a fixture is a problem in its result. */
export async function runFixture(folder: string, options: RunFixtureOptions): Promise<FixtureResult> {
  const startedMs = performance.now();
  const requests: string[] = [];
  const jobs: JobReport[] = [];
  let problems: string[];
  try {
    problems = await play(folder, { requests, jobs }, options);
  } catch (error) {
    options.signal.throwIfAborted();
    problems = [reasonOf(error)];
  }
  const durationMs = performance.now() - startedMs;
  return {
    name: path.basename(folder),
    folder,
    passed: problems.length === 0,
    problems,
    requests,
    jobs,
    durationMs,
  };
}

async function play(
  folder: string,
  { requests, jobs }: { requests: string[]; jobs: JobReport[] },
  options: RunFixtureOptions,
): Promise<string[]> {
  const settings = { ...options.settings, ...readSettings(folder) };
  const own = readExchanges(folder);
  const isShared = existsSync(path.join(folder, '_sample_out'));
  const others = isShared ? options.shared.filter((exchange) => exchange.folder !== folder) : [];
  const tape = new Tape([...own, ...others]);
  const env = fixtureEnv(settings);
  const server = await startServer({
    answer(asked) {
      requests.push(`${asked.method} ${asked.target}`);
      return tape.answer(asked);
    },
    onAnswered: () => env.answered(),
  });
  const temporary = makeTempFolder('fixture');
  const dataFolder = temporary.path;
  const log: string[] = [];
  const runs: string[] = [];
  let error: unknown;
  try {
    cpSync(path.join(folder, 'config.json'), path.join(dataFolder, 'config.json'));
    if (existsSync(path.join(folder, 'in')))
      cpSync(path.join(folder, 'in'), path.join(dataFolder, 'in'), { recursive: true });
    try {
      await runAll(dataFolder, {
        settings,
        env,
        bottom: server.send,
        log: logTo(log),
        runs,
        jobs,
        signal: options.signal,
      });
    } catch (caught) {
      options.signal.throwIfAborted();
      error = caught;
    }
    const unused = isShared || settings.allowUnused === true ? [] : tape.unused();
    return [
      ...tape.problems,
      ...compareOutcome(folder, { dataFolder, requests, jobs, log, error, runs }),
      ...unused.map(({ name, method, target }) => `${name}.request was never asked for: ${method} ${target}`),
    ];
  } finally {
    await server.close();
    temporary.remove();
  }
}

interface World {
  readonly settings: FixtureSettings;
  readonly env: FixtureEnv;
  readonly bottom: Send;
  readonly log: Log;
  readonly runs: string[];
  readonly jobs: JobReport[];
  readonly signal: AbortSignal;
}

/** Runs once over the data folder, or once for each row (`rows/<id>/in`, `rows/<id>/out`). */
async function runAll(
  dataFolder: string,
  { settings, env, bottom, log, runs, jobs, signal }: World,
): Promise<void> {
  const plan = planRows(resourceOf(await readConfig(dataFolder)));
  runs.push(...plan.runs.map(({ id }) => (id === undefined ? '' : path.join('rows', id))));
  for (const [i, run] of plan.runs.entries()) {
    const folder = path.join(dataFolder, runs[i] ?? '');
    const stateFile = path.join(folder, 'in', 'state.json');
    const environment = settings.environment ?? {};
    const decrypt = await decryptorFor([run.configuration], { environment });
    const configuration = resolveSecrets(run.configuration, environment, decrypt);
    const secrets = new Secrets();
    for (const secret of collectSecrets(configuration)) secrets.add(secret);
    mkdirSync(folder, { recursive: true });
    const done = await extract({
      configuration,
      state:
        existsSync(stateFile) || run.state === undefined
          ? readState(stateFile, log)
          : stateParts(run.state, run).component,
      outFolder: path.join(folder, 'out'),
      workFolder: path.join(folder, '.gex'),
      cacheFolder: path.join(folder, 'cache'),
      env,
      log,
      secrets,
      signal,
      limit: settings.limit,
      bottom,
    });
    jobs.push(...done.jobs);
  }
}

function logTo(lines: string[]): Log {
  const write = (level: string) => (message: string, fields?: LogFields) => {
    lines.push(`${level}: ${message}${fields === undefined ? '' : ` ${JSON.stringify(fields)}`}`);
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
