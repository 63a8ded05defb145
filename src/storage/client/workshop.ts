import type { Static } from 'typebox';
import { StorageError } from '../../lib/errors.ts';
import type {
  Exploration,
  Found,
  ImportedSource,
  Importing,
  Tried,
  Trial,
  WorkshopLine,
} from '../protocol/index.ts';
import type { ApiCore, ApiCall } from './api-core.ts';
import { lostOn } from './lines.ts';
import { shaped } from './shape.ts';

export interface WorkshopOptions {
  /** Told of each step, in words. */
  readonly onStep?: ((step: string) => void) | undefined;
  /** Told of logins that were renewed: they take the place of those that were given. */
  readonly onLogins?: ((logins: string) => void) | undefined;
  /** Ends the work, at the service too. */
  readonly signal?: AbortSignal | undefined;
}

/** Operations that build sources: the service stores nothing of it. Each takes three minutes at most. */
export interface Workshop {
  /**
   * Looks at an API, and finds out how to get all rows of a list.
   *
   * @throws {StorageError} `storage.refused` when the API or the text does not give a list; `details` have `serviceCode`,
   * `apiStatus` when an answer of the API was it, and `advice` on what may be done, as facts
   */
  explore(exploration: Static<typeof Exploration>, options?: WorkshopOptions): Promise<Found>;
  /** Runs a configuration for a few pages, or over the recording of an earlier trial. What fails in it is its `error`. */
  try(trial: Static<typeof Trial>, options?: WorkshopOptions): Promise<Tried>;
  /**
   * Makes a configuration from that of another tool.
   *
   * @throws {StorageError} `storage.refused` for a file that cannot be read
   */
  import(file: Static<typeof Importing>): Promise<ImportedSource>;
}

export function createWorkshop(api: ApiCore): Workshop {
  async function ask(call: ApiCall, { onStep, onLogins, signal }: WorkshopOptions): Promise<WorkshopLine> {
    for await (const json of api.lines({ ...call, signal })) {
      // As the protocol has them; the last one is looked at below.
      const line = shaped<object>(json, 'step', {}) as WorkshopLine;
      if ('step' in line) onStep?.(line.step);
      else if ('logins' in line) onLogins?.(line.logins);
      else return line;
    }
    throw lostOn(call.path, undefined);
  }
  const shared = { method: 'POST', scope: 'plain' } as const;
  return {
    async explore(body, options = {}) {
      const line = await ask({ ...shared, path: 'workshop/explore', body }, options);
      if ('found' in line) return line.found;
      throw refused(line);
    },
    async try(body, options = {}) {
      const line = await ask({ ...shared, path: 'workshop/try', body }, options);
      if ('tried' in line) return line.tried;
      throw refused(line);
    },
    import: async (body) =>
      shaped<ImportedSource>(
        await api.call({ ...shared, path: 'workshop/import', body, isOnce: true }),
        'imported source',
        { configuration: 'string', report: 'object' },
      ),
  };
}

function refused(line: WorkshopLine): StorageError {
  if (!('error' in line)) return lostOn('the workshop', undefined);
  const { code, message, hint, audience, status, advice } = line.error;
  return new StorageError('storage.refused', message, {
    hint: hint?.split('\n'),
    audience: audience === 'user' ? 'user' : 'application',
    details: { serviceCode: code, apiStatus: status, advice },
  });
}
