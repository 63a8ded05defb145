import { systemEnv } from '../lib/env.ts';
import { RUN_VARIABLE } from '../service/domain/runs/checkpoint/channel.ts';
import type { KeptRun } from '../service/domain/runs/checkpoint/kept-run.ts';
import type { RunCredentials } from '../service/domain/runs/credentials.ts';
import { RUNNER_VARIABLE } from '../service/domain/runs/runner-variable.ts';
import type { TargetOptions } from '../service/open/open-target.ts';
import type { ShownProgress } from './progress.ts';

/**
 * Receives id, token and keys of a run from the runner that started it: not by the environment, where a configuration
 * could take them from.
 */
export async function givenByRunner(): Promise<
  Pick<TargetOptions, 'encryptionKeys' | 'environment'> &
    Partial<Pick<RunCredentials, 'accepting' | 'lineage' | 'run'>>
> {
  // the module is not loaded for others
  if (process.env[RUNNER_VARIABLE] !== '1') return {};
  const { receiveCredentials } = await import('../service/domain/runs/credentials.ts');
  const credentials = await receiveCredentials();
  if (credentials === undefined) return {};
  const { parseKeys } = await import('../lib/encryption/index.ts');
  return {
    run: credentials.run,
    lineage: credentials.lineage,
    accepting: credentials.accepting,
    encryptionKeys: parseKeys(credentials.keys, 'the runner'),
    environment: { ...process.env, KBC_TOKEN: credentials.token },
  };
}

/** Keeps a checkpoint of the run for another process, if a runner has started it for that. */
export async function keptBySomebody(): Promise<KeptRun | undefined> {
  if (process.env[RUN_VARIABLE] === undefined) return undefined;
  const { keptRun } = await import('../service/domain/runs/checkpoint/kept-run.ts');
  return keptRun(process, process.env);
}

/** Reports the progress of a run to the runner that started this process. */
export async function toldToRunner(): Promise<ShownProgress | undefined> {
  // the module is not loaded for others
  if (process.env[RUNNER_VARIABLE] !== '1') return undefined;
  const { createRunProgress } = await import('./runner-progress.ts');
  const { tellRunner } = await import('../service/domain/runs/run-progress.ts');
  return createRunProgress(systemEnv, tellRunner, performance.timeOrigin);
}
