import { Readable } from 'node:stream';
import { keyFileText } from '../../../lib/encryption/keys.ts';
import { sealText } from '../../../lib/encryption/index.ts';
import { encodeExact } from '../../../lib/json/index.ts';
import {
  Exploration,
  ImportedSource,
  Importing,
  Inspected,
  Inspection,
  Trial,
  type ConfigurationProblem,
} from '../../../storage/protocol/workshop.ts';
import type { Context } from '../../domain/context.ts';
import { Answer } from '../answer.ts';
import { ApiError } from '../../domain/api-error.ts';
import { route, type Call, type Route } from '../route.ts';
import { requireAnyComponent, requireComponent } from '../../domain/tokens/permissions.ts';
import { askChild, type BuilderChildOptions } from '../../domain/builder/child.ts';
import { inspect } from '../../domain/builder/inspect.ts';
import { RawJson } from '../../domain/reply.ts';
import type { BuilderTask, ImportAnswer, Said, ToldError } from '../../domain/builder/builder-types.ts';
import { makeTrialFolder, removeTrialFolder, sweepTrialFolders } from '../../domain/builder/trial-folders.ts';

export interface BuilderOptions extends Pick<BuilderChildOptions, 'command' | 'environment'> {
  /** Processes at a time; default 4. */
  readonly concurrency?: number;
  /** Milliseconds that one may take; default 3 minutes. */
  readonly patienceMs?: number;
}

const CONCURRENCY = 4;
const PATIENCE_MS = 3 * 60_000;
const SWEEP_MS = 3_600_000;
const MAX_REQUESTS = 12;
const PAGES = 3;
/** Bytes of a body; the recording of a trial is part of it. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/**
 * Characters of a text that is checked in this process. A longer one is checked in a process of its own: one with
 * many problems takes a millisecond for every ten characters.
 */
const SHORT_LETTERS = 8000;
/** Bytes of a text to check, as it is sent: escaped, and as long as a configuration may be. */
const MAX_TEXT_BYTES = 10 * 1024 * 1024;

/** Makes the routes that probe APIs and try configurations out, and the function that ends their processes. */
export function builderRoutes(
  context: Context,
  { command, environment, concurrency = CONCURRENCY, patienceMs = PATIENCE_MS }: BuilderOptions,
): { readonly routes: readonly Route[]; readonly stop: () => Promise<void> } {
  const { keys, env, project, log } = context;
  const atWork = new Set<AbortController>();
  const sweep = (): void => void sweepTrialFolders(env.now());
  sweep();
  const sweeping = setInterval(sweep, SWEEP_MS).unref();

  async function* work(asked: BuilderTask, component: string, own: AbortController): AsyncGenerator<string> {
    const late = AbortSignal.timeout(patienceMs);
    const signal = AbortSignal.any([own.signal, late]);
    try {
      const onOver = (): void => {
        if (asked.kind === 'try') void removeTrialFolder(asked.folder).catch(() => undefined);
      };
      for await (const said of askChild(asked, { command, environment, signal, onOver }))
        yield `${JSON.stringify(sealed(said, component))}\n`;
    } catch (error) {
      if (own.signal.aborted) return;
      if (!late.aborted) log.error('Builder failed', { detail: String(error) });
      yield `${JSON.stringify({ error: late.aborted ? tooLate(asked, patienceMs) : BROKEN } satisfies Said)}\n`;
    } finally {
      atWork.delete(own);
    }
  }

  /** Encrypts the secrets: they leave this process encrypted only. */
  function sealed(said: Said, component: string): Said {
    if (!('found' in said)) return said;
    const scope = { project: String(project.id), component };
    const { text } = sealText(said.found.configuration, { keys, scope, env });
    return { found: { ...said.found, configuration: text } };
  }

  function answer(
    asked: BuilderTask,
    component: string,
    { request }: Pick<Call<unknown, unknown, unknown>, 'request'>,
  ): Answer {
    const own = begin();
    const lines = Readable.from(work(asked, component, own), { objectMode: false });
    // A user who leaves the page needs no more of it.
    const { socket } = request.raw;
    const leave = (): void => own.abort();
    socket.once('close', leave);
    lines.once('close', () => {
      // The connection may be used again.
      socket.off('close', leave);
      own.abort();
      atWork.delete(own);
      // For a process that was never started; one that still ends is awaited elsewhere.
      if (asked.kind === 'try') void removeTrialFolder(asked.folder).catch(() => undefined);
    });
    return new Answer(200, lines, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
  }

  /** Reserves a place for one process. @throws {ApiError} 503 when there is none */
  function begin(): AbortController {
    requireFree();
    const own = new AbortController();
    atWork.add(own);
    return own;
  }

  function requireFree(): void {
    if (atWork.size >= concurrency)
      throw new ApiError(
        503,
        'storage.workshop.busy',
        'Others are trying out sources right now: ask again in a moment.',
        { retryAfter: 5 },
      );
  }

  async function inspectElsewhere(asked: BuilderTask): Promise<ConfigurationProblem[]> {
    const own = begin();
    const late = AbortSignal.timeout(patienceMs);
    try {
      const signal = AbortSignal.any([own.signal, late]);
      for await (const said of askChild(asked, { command, signal }))
        if ('problems' in said) return [...said.problems];
      throw new Error('The workshop told no problems.');
    } catch (error) {
      if (!late.aborted) throw error;
      const { code, message } = tooLate(asked, patienceMs);
      throw new ApiError(400, `storage.${code}`, message, { cause: error });
    } finally {
      atWork.delete(own);
    }
  }

  /** Makes a configuration elsewhere: a file from outside may be large, or made to be slow. */
  async function importElsewhere(asked: BuilderTask, component: string): Promise<ImportAnswer> {
    const own = begin();
    const late = AbortSignal.timeout(patienceMs);
    try {
      const signal = AbortSignal.any([own.signal, late]);
      for await (const said of askChild(asked, { command, signal })) {
        if ('error' in said) {
          const { code, message, hint } = said.error;
          throw new ApiError(400, `storage.${code}`, hint === undefined ? message : `${message} ${hint}`);
        }
        if (!('imported' in said)) continue;
        const { configuration, report } = said.imported;
        const scope = { project: String(project.id), component };
        return { configuration: sealText(configuration, { keys, scope, env }).text, report };
      }
      throw new Error('The workshop told nothing of an import.');
    } catch (error) {
      if (!late.aborted) throw error;
      const { code, message } = tooLate(asked, patienceMs);
      throw new ApiError(400, `storage.${code}`, message, { cause: error });
    } finally {
      atWork.delete(own);
    }
  }

  const shared = {
    tag: 'Workshop',
    scope: 'plain',
    maxBodyBytes: MAX_BODY_BYTES,
    judge: ({ caller }) => requireAnyComponent(caller),
  } satisfies Partial<Route>;
  return {
    routes: [
      route({
        ...shared,
        method: 'POST',
        path: '/workshop/explore',
        summary: 'Looks at an API, and finds out how to get all rows of a list',
        body: Exploration,
        handle: ({ body, ...call }) => {
          const { component = KNOWN_COMPONENT, maxRequests = MAX_REQUESTS, ...asked } = body;
          requireComponent(call.caller, component);
          return answer({ kind: 'explore', ...asked, maxRequests }, component, call);
        },
      }),
      route({
        ...shared,
        method: 'POST',
        path: '/workshop/try',
        summary: 'Runs a configuration for a few pages, and pushes nothing',
        body: Trial,
        handle: async ({ body, ...call }) => {
          const {
            component = KNOWN_COMPONENT,
            configuration,
            document,
            pages = PAGES,
            row,
            recording,
          } = body;
          requireComponent(call.caller, component);
          const scope = { project: String(project.id), component, configuration };
          // As the parser of bodies made it.
          const text = encodeExact(document as Parameters<typeof encodeExact>[0]);
          const asked = { document: text, pages, row, recording, keys: keyFileText(keys), scope };
          requireFree();
          const folder = await makeTrialFolder();
          try {
            return answer({ kind: 'try', ...asked, folder }, component, call);
          } catch (error) {
            await removeTrialFolder(folder);
            throw error;
          }
        },
      }),
      route({
        ...shared,
        method: 'POST',
        path: '/workshop/import',
        summary: 'Makes a configuration from that of another tool, and says how much of it was taken over',
        body: Importing,
        response: ImportedSource,
        handle: async ({ body, ...call }) => {
          const { component = KNOWN_COMPONENT, file, name, ...asked } = body;
          requireComponent(call.caller, component);
          const source = name ?? file.replace(/\.[^.]*$/, '');
          const { configuration, report } = await importElsewhere(
            { kind: 'import', ...asked, file, name: source },
            component,
          );
          return { configuration, report: new RawJson(JSON.stringify(report)) };
        },
      }),
      route({
        ...shared,
        method: 'POST',
        path: '/workshop/validate',
        summary: 'Everything that is wrong with a configuration, each problem with its place',
        maxBodyBytes: MAX_TEXT_BYTES,
        body: Inspection,
        response: Inspected,
        handle: async ({ body, ...call }) => {
          const { component = KNOWN_COMPONENT, configuration, text } = body;
          requireComponent(call.caller, component);
          const scope = { project: String(project.id), component, configuration };
          if (text.length <= SHORT_LETTERS) return { problems: await inspect(text, keys, scope) };
          return {
            problems: await inspectElsewhere({ kind: 'inspect', text, keys: keyFileText(keys), scope }),
          };
        },
      }),
    ],
    stop: async () => {
      clearInterval(sweeping);
      for (const each of atWork) each.abort();
      await Promise.resolve();
    },
  };
}

/** Id of the extractor in the catalogue. */
const KNOWN_COMPONENT = 'ex-generic-v2';

function tooLate({ kind }: BuilderTask, ms: number): ToldError {
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

const BROKEN = {
  code: 'internal',
  message: 'This should not have happened: the log of the service says more.',
  audience: 'application',
};
