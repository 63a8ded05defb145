import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasRole, type MakePart } from '../storage/server/part.ts';
import { createRunner, type RunnerOptions } from './runner.ts';

export interface RunnerPartOptions extends Pick<
  RunnerOptions,
  'command' | 'concurrency' | 'isAlone' | 'keptIn' | 'pollMs'
> {
  /** Address of the API that runs use; the one of this process by default. */
  readonly apiUrl?: string | undefined;
}

/** The part of the service that does the runs of configurations. */
export function runnerPart(options: RunnerPartOptions): MakePart {
  return (context, service) => {
    if (!hasRole(service, 'runner')) return {};
    let runner: ReturnType<typeof createRunner> | undefined;
    return {
      async start(apiUrl) {
        // With several machines nothing is kept here for longer than a run.
        const directory = path.join(context.dir ?? (await mkdtemp(path.join(tmpdir(), 'gex-'))), 'runs');
        runner = createRunner(context, { ...options, apiUrl: options.apiUrl ?? apiUrl, directory });
        await runner.start();
      },
      // Before the API stops to answer: a run that ends in good order tells it what it has done.
      async drain() {
        await runner?.stop();
        runner = undefined;
      },
    };
  };
}
