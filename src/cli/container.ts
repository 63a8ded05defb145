import { boundYoungMemory } from './heap-tuning.ts';
import { readConfig } from '../engine/config/index.ts';
import { systemEnv } from '../lib/env.ts';
import { describeError, exitCodeOf } from '../lib/errors.ts';
import { encodeExact, getKey, isObject } from '../lib/json/index.ts';
import { silentLog } from '../lib/log.ts';
import { componentLine } from '../lib/logging/lines.ts';
import { createLog, type LeveledLog, type WriteEvent } from '../lib/logging/log.ts';
import { listenForInterruption, quietOnEpipe } from './process.ts';
import { run } from '../runner/run.ts';
import { Secrets } from '../lib/secrets.ts';
import { trimEnd } from '../lib/trim.ts';

/** The world of a container. */
export interface ComponentOptions {
  /** `KBC_DATADIR`, `GEX_LOG_FORMAT`, and the values of `$env:NAME`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly signal: AbortSignal;
}

/** Runs {@link component} over this process, as the container's entrypoint. */
export async function main(): Promise<void> {
  const { stdout, stderr, env } = process;
  quietOnEpipe(stdout);
  quietOnEpipe(stderr);
  boundYoungMemory();
  const interruption = listenForInterruption();
  try {
    process.exitCode = await component({ environment: env, stdout, stderr, signal: interruption.signal });
  } finally {
    interruption.dispose();
  }
}

/**
 * Fulfils the contract of a component: runs the `config.json` of `KBC_DATADIR` (`/data` by default) and writes `out/`.
 * Log lines go to stdout, in JSON with `GEX_LOG_FORMAT=json`; stderr gets the final error and nothing else. With an
 * `action` other than `run`, stdout is one JSON document.
 *
 * @returns the exit code: 0 done, 1 a mistake of the user, 2 one of the application
 */
export async function component(options: ComponentOptions): Promise<0 | 1 | 2> {
  const { environment, signal } = options;
  const dataFolder = folderOf(environment['KBC_DATADIR'] ?? '') || '/data';
  const secrets = new Secrets();
  const action = await actionOf(dataFolder);
  if (action !== undefined) return runAction(action, dataFolder, secrets, options);
  const log = await openLog(options, secrets);
  try {
    await run({
      manner: 'component',
      dataFolder,
      environment,
      log,
      secrets,
      signal,
      command: 'component',
      onDebug: () => log.setLevel('debug'),
    });
    log.info('Extractor finished successfully.');
    return 0;
  } catch (error) {
    log.error(describeError(error));
    return failed(error, secrets, options);
  }
}

/** Returns the action of the configuration; undefined for a run, and if it cannot be read: the run then reports why. */
async function actionOf(dataFolder: string): Promise<string | undefined> {
  const document = await readConfig(dataFolder).catch(() => undefined);
  if (document === undefined || !isObject(document.value)) return undefined;
  const action = getKey(document.value, 'action');
  return typeof action !== 'string' || action === '' || action === 'run' ? undefined : action;
}

async function openLog({ environment, stdout }: ComponentOptions, secrets: Secrets): Promise<LeveledLog> {
  const write: WriteEvent =
    environment['GEX_LOG_FORMAT'] === 'json'
      ? (await import('../lib/logging/json.ts')).jsonEvents((line) => stdout.write(line))
      : (...event) => stdout.write(`${componentLine(systemEnv.now(), ...event)}\n`);
  return createLog(write, { level: 'info', secrets });
}

async function runAction(
  action: string,
  dataFolder: string,
  secrets: Secrets,
  options: ComponentOptions,
): Promise<0 | 1 | 2> {
  const { environment, stdout, signal } = options;
  const { runSyncAction } = await import('../authoring/actions/run-action.ts');
  try {
    const answer = await runSyncAction({
      action,
      manner: 'component',
      dataFolder,
      environment,
      secrets,
      signal,
      log: silentLog,
    });
    stdout.write(`${encodeExact(answer)}\n`);
    return 0;
  } catch (error) {
    const { actionError } = await import('../authoring/actions/actions.ts');
    stdout.write(`${secrets.redact(encodeExact(actionError(error)))}\n`);
    return failed(error, secrets, options);
  }
}

function failed(error: unknown, secrets: Secrets, { stderr }: ComponentOptions): 1 | 2 {
  stderr.write(`${secrets.redactMessage(describeError(error))}\n`);
  return exitCodeOf(error);
}

/** Removes slashes at the end, unless there is nothing else. */
function folderOf(path: string): string {
  return trimEnd(path, '/') || path.slice(0, 1);
}
