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
} from '../../../storage/protocol/workshop.ts';
import type { Context } from '../../domain/context.ts';
import { Answer } from '../answer.ts';
import { route, type Call, type Route } from '../route.ts';
import { requireAnyComponent, requireComponent } from '../../domain/tokens/permissions.ts';
import { askChild } from '../../domain/builder/child.ts';
import { tooLate, type Desk } from '../../domain/builder/desk.ts';
import { inspect } from '../../domain/builder/inspect.ts';
import { RawJson } from '../../domain/reply.ts';
import type { BuilderTask, ImportAnswer, Said } from '../../domain/builder/builder-types.ts';
import { makeTrialFolder, removeTrialFolder, sweepTrialFolders } from '../../domain/builder/trial-folders.ts';

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
  desk: Desk,
): { readonly routes: readonly Route[]; readonly stop: () => void } {
  const { keys, env, project, log } = context;
  const { command, environment, patienceMs } = desk;
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
      desk.end(own);
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
    const own = desk.begin();
    const lines = Readable.from(work(asked, component, own), { objectMode: false });
    // A user who leaves the page needs no more of it.
    const { socket } = request.raw;
    const leave = (): void => own.abort();
    socket.once('close', leave);
    lines.once('close', () => {
      // The connection may be used again.
      socket.off('close', leave);
      own.abort();
      desk.end(own);
      // For a process that was never started; one that still ends is awaited elsewhere.
      if (asked.kind === 'try') void removeTrialFolder(asked.folder).catch(() => undefined);
    });
    return new Answer(200, lines, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' });
  }

  /** Makes a configuration elsewhere: a file from outside may be large, or made to be slow. */
  async function importElsewhere(asked: BuilderTask, component: string): Promise<ImportAnswer> {
    const { configuration, report } = await desk.ask(asked, (said) =>
      'imported' in said ? said.imported : undefined,
    );
    const scope = { project: String(project.id), component };
    return { configuration: sealText(configuration, { keys, scope, env }).text, report };
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
          const { component = KNOWN_COMPONENT, maxRequests = MAX_REQUESTS, logins, ...asked } = body;
          requireComponent(call.caller, component);
          const scope = { project: String(project.id), component };
          const held = logins === undefined ? undefined : { logins, keys: keyFileText(keys), scope };
          return answer({ kind: 'explore', ...asked, maxRequests, held }, component, call);
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
            logins,
          } = body;
          requireComponent(call.caller, component);
          const scope = { project: String(project.id), component, configuration };
          // As the parser of bodies made it.
          const text = encodeExact(document as Parameters<typeof encodeExact>[0]);
          const asked = { document: text, pages, row, recording, logins, keys: keyFileText(keys), scope };
          desk.requireFree();
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
        isReading: true,
        summary: 'Everything that is wrong with a configuration, each problem with its place',
        maxBodyBytes: MAX_TEXT_BYTES,
        body: Inspection,
        response: Inspected,
        handle: async ({ body, ...call }) => {
          const { component = KNOWN_COMPONENT, configuration, text } = body;
          requireComponent(call.caller, component);
          const scope = { project: String(project.id), component, configuration };
          if (text.length <= SHORT_LETTERS) return { problems: await inspect(text, keys, scope) };
          const asked = { kind: 'inspect', text, keys: keyFileText(keys), scope } as const;
          const problems = await desk.ask(asked, (said) =>
            'problems' in said ? [...said.problems] : undefined,
          );
          return { problems };
        },
      }),
    ],
    stop: () => clearInterval(sweeping),
  };
}

/** Id of the extractor in the catalogue. */
export const KNOWN_COMPONENT = 'ex-generic-v2';

const BROKEN = {
  code: 'internal',
  message: 'This should not have happened: the log of the service says more.',
  audience: 'application',
};
