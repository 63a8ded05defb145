import { systemEnv, type Env } from '../lib/env.ts';
import type { JobPreview } from '../engine/extract/preview.ts';
import type { Stretch } from '../engine/jobs/index.ts';
import type { LoginKeeper } from '../engine/http/auth/index.ts';
import { withRedaction } from '../lib/redact.ts';
import { placed } from './place-error.ts';
import { makePlan, type RunPlanOptions, type SecretPlanOptions } from './plan.ts';
import { folderLogins } from './logins/folder-logins.ts';
import { withoutLogins } from './logins/state-logins.ts';
import { rowPlace } from './row-place.ts';
import { fileStates, type States } from './row-state.ts';

export interface PreviewRunOptions extends RunPlanOptions {
  /** Begins every row as a first run. Default false. */
  readonly resetState?: boolean;
  /** A stretch of time that is filled again, in milliseconds since 1970. */
  readonly period?: Stretch | undefined;
  /** Store of the states; the data folder by default. */
  readonly states?: States | undefined;
  /** Keeps logins whose tokens change; in the data folder by default. */
  readonly logins?: LoginKeeper | undefined;
  readonly signal: AbortSignal;
  readonly env?: Env;
}

export interface RowPreview {
  /** Absent when the configuration has no rows. */
  readonly id?: string;
  readonly jobs: readonly JobPreview[];
}

/**
 * Returns the first request of every job of every row, without sending one and without writing anything (`--dry-run`).
 *
 * @throws {ExtractorError} for a configuration that could not run
 */
export async function previewRun(options: PreviewRunOptions): Promise<readonly RowPreview[]> {
  return await withRedaction(options, previewRows);
}

async function previewRows(options: PreviewRunOptions & SecretPlanOptions): Promise<readonly RowPreview[]> {
  const { dataFolder, log, signal, secrets, methods, authTypes } = options;
  const { env = systemEnv, states = fileStates } = options;
  const { document, id, ready } = await makePlan(options, 'refuse');
  const { firstRequests } = await import('../engine/extract/preview.ts');
  const { environment = process.env } = options;
  const kept = options.logins ?? folderLogins({ dataFolder, environment, env, log });
  // nothing is sent, so there is nothing to keep
  const logins = { ...kept, write: async () => {} };
  const previews: RowPreview[] = [];
  for (const { row, configuration } of ready) {
    try {
      const at = rowPlace(row, { dataFolder, configuration: id, log, signal });
      const { component: state } = options.resetState === true ? { component: {} } : await states.read(at);
      const jobs = await firstRequests({
        configuration,
        state: withoutLogins(state),
        period: options.period,
        env,
        secrets,
        methods,
        authTypes,
        logins,
      });
      previews.push({ ...(row.id === undefined ? {} : { id: row.id }), jobs });
    } catch (error) {
      throw placed(error, document, row);
    }
  }
  return previews;
}
