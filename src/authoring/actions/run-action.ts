import { systemEnv, type Env } from '../../lib/env.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { Json } from '../../lib/json/index.ts';
import { silentLog } from '../../lib/log.ts';
import { withRedaction } from '../../lib/redact.ts';
import { makePlan, type RunPlanOptions, type SecretPlanOptions } from '../../runner/plan.ts';
import { lockFolder, type Lock } from '../../runner/lock.ts';
import { componentLogins, readOnlyLogins } from '../../runner/logins/component-logins.ts';
import { folderLogins } from '../../runner/logins/folder-logins.ts';
import { withoutLogins } from '../../runner/logins/state-logins.ts';
import { rowPlace } from '../../runner/row-place.ts';
import { componentStates } from '../../runner/row-state.ts';

export interface RunActionOptions extends Omit<RunPlanOptions, 'strict'> {
  /** The name of the action, such as `test_request`. */
  readonly action: string;
  readonly env?: Env;
  /** `component`: nothing is left in the data folder, so a login is not refreshed. Default `command`. */
  readonly manner?: 'command' | 'component';
  readonly signal: AbortSignal;
}

/**
 * Runs a sync action over a data folder: of the row that is named, else of the first one.
 * Nothing is written.
 *
 * @returns the answer, one JSON document
 * @throws {ExtractorError} when the action is unknown or fails
 */
export async function runSyncAction(options: RunActionOptions): Promise<Json> {
  return await withRedaction(options, runNamed);
}

async function runNamed(options: RunActionOptions & SecretPlanOptions): Promise<Json> {
  const { action, dataFolder, log, signal, env = systemEnv, methods, authTypes } = options;
  const { ready, id } = await makePlan({ ...options, log: silentLog }, 'warn');
  const [first] = ready;
  if (first === undefined)
    throw new ConfigError(
      'config.invalid',
      'All rows are disabled, so there is nothing to run the action on.',
      {
        hint: 'Name a row.',
      },
    );
  const { row, configuration } = first;
  const at = rowPlace(row, { dataFolder, configuration: id, log: silentLog, signal });
  const { component: state } = await componentStates.read(at);
  const { runAction } = await import('./actions.ts');
  const more = {
    ...(methods === undefined ? {} : { methods }),
    ...(authTypes === undefined ? {} : { authTypes }),
  };
  const { environment = process.env, manner = 'command' } = options;
  let lock: Lock | undefined;
  const where = { dataFolder, environment, env, log };
  const logins =
    manner === 'component'
      ? readOnlyLogins(componentLogins(where))
      : folderLogins({ ...where, beforeWrite: () => (lock = lockFolder(dataFolder, action, env.now())) });
  try {
    return await runAction(action, {
      configuration,
      state: withoutLogins(state),
      env,
      log,
      signal,
      logins,
      ...more,
    });
  } finally {
    lock?.release();
  }
}
