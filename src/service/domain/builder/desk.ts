import { ApiError } from '../api-error.ts';
import type { BuilderTask, Said, ToldError } from './builder-types.ts';
import { askChild, type BuilderChildOptions } from './child.ts';

export interface DeskOptions extends Pick<BuilderChildOptions, 'command' | 'environment'> {
  /** Processes at a time; default 4. */
  readonly concurrency?: number;
  /** Milliseconds that one may take; default 3 minutes. */
  readonly patienceMs?: number;
}

const CONCURRENCY = 4;
const PATIENCE_MS = 3 * 60_000;

/** Place where the processes of the builder are counted, and ended when the service stops. */
export interface Desk extends Required<Pick<DeskOptions, 'patienceMs'>>, Pick<DeskOptions, 'environment'> {
  readonly command: DeskOptions['command'];
  /** Reserves a place for one process. @throws {ApiError} 503 when there is none */
  begin(): AbortController;
  /** @throws {ApiError} 503 when there is no place */
  requireFree(): void;
  end(own: AbortController): void;
  /**
   * Runs a task, and returns the first answer that is picked.
   *
   * @throws {ApiError} 400 with the error that the process tells, 503 when there is no place
   */
  ask<T>(asked: BuilderTask, pick: (said: Said) => T | undefined, ms?: number): Promise<T>;
  stop(): void;
}

export function createDesk({
  command,
  environment,
  concurrency = CONCURRENCY,
  patienceMs = PATIENCE_MS,
}: DeskOptions): Desk {
  const atWork = new Set<AbortController>();
  const desk: Desk = {
    command,
    environment,
    patienceMs,
    begin() {
      desk.requireFree();
      const own = new AbortController();
      atWork.add(own);
      return own;
    },
    requireFree() {
      if (atWork.size >= concurrency)
        throw new ApiError(
          503,
          'storage.workshop.busy',
          'Others are trying out sources right now: ask again in a moment.',
          { retryAfter: 5 },
        );
    },
    end: (own) => void atWork.delete(own),
    async ask(asked, pick, ms = patienceMs) {
      const own = desk.begin();
      const late = AbortSignal.timeout(ms);
      try {
        const signal = AbortSignal.any([own.signal, late]);
        for await (const said of askChild(asked, { command, environment, signal })) {
          if ('error' in said) throw refused(said.error);
          const picked = pick(said);
          if (picked !== undefined) return picked;
        }
        throw new Error(`The workshop told nothing of “${asked.kind}”.`);
      } catch (error) {
        if (!late.aborted) throw error;
        const { code, message } = tooLate(asked, ms);
        throw new ApiError(400, `storage.${code}`, message, { cause: error });
      } finally {
        atWork.delete(own);
      }
    },
    stop() {
      for (const each of atWork) each.abort();
    },
  };
  return desk;
}

function refused({ code, message, hint }: ToldError): ApiError {
  return new ApiError(400, `storage.${code}`, hint === undefined ? message : `${message} ${hint}`);
}

/** Returns the error of a task that took too long. */
export function tooLate({ kind }: BuilderTask, ms: number): ToldError {
  return {
    code: 'workshop.late',
    message: `It took longer than ${Math.round(ms / 1000)} seconds, and was ended.`,
    hint:
      kind === 'try'
        ? 'Store it, and run it: a run may take as long as it needs.'
        : 'The API answers too slowly to be looked at. Ask for fewer rows at a time, by a parameter such as limit.',
    audience: 'user',
  };
}
