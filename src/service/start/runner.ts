import path from 'node:path';
import { RunError } from '../../lib/errors.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import { openStore } from './open-object-store.ts';
import { hasRole, type MakePart } from './service-options.ts';
import { createRunner, type RunnerOptions } from '../domain/runs/runner.ts';

export type RunnerPartOptions = Pick<
  RunnerOptions,
  'checkMs' | 'command' | 'concurrency' | 'environment' | 'fullMs' | 'ofToken' | 'pollMs'
>;

/**
 * Makes the part of the service that does the runs of configurations. In a folder of its own it is alone, and the
 * folders of runs stay there; where several processes share a database, checkpoints are in the object store while a
 * run is at work.
 */
export function runnerPart(options: RunnerPartOptions): MakePart {
  return async (context, service) => {
    if (!hasRole(service, 'runner')) return {};
    const { dir } = context;
    const store = await openStore(context, service, () => undefined);
    const temporary = dir === undefined ? makeTempFolder('runs') : undefined;
    const folder = dir ?? temporary?.path ?? '';
    let runner: ReturnType<typeof createRunner> | undefined;
    return {
      doesRuns: true,
      async start(ownUrl) {
        runner = createRunner(context, {
          ...options,
          apiUrl: ownUrl === '' ? requireUrl(context.publicUrl) : ownUrl,
          directory: path.join(folder, 'runs'),
          isAlone: dir !== undefined,
          keptIn: dir === undefined ? store.objects : undefined,
          records: store.objects,
        });
        await runner.start();
      },
      // Beside the API, while it still answers: runs that end in good order report to it.
      drain: async () => await runner?.stop(),
      async stop() {
        store.close();
        temporary?.remove();
      },
    };
  };
}

/** Returns the address of the API of another process. @throws {RunError} `command.invalid` when it is not known */
function requireUrl(url: string | undefined): string {
  if (url !== undefined) return url;
  throw new RunError('command.invalid', 'A runner does not know where the API is.', {
    hint: 'Add --public-url URL, an address at which this process reaches it; or give it the role api, too.',
  });
}
