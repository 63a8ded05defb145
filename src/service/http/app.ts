import { Readable } from 'node:stream';
import multipart from '@fastify/multipart';
import swagger from '@fastify/swagger';
import {
  fastify,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
  type FastifyServerOptions,
} from 'fastify';
import type { Json } from '../../lib/json/index.ts';
import { requestIdOf, withRequestId } from '../platform/health/correlation.ts';
import type { Probe } from '../platform/health/probes.ts';
import { admit, judge, type Admitted } from './admit.ts';
import { Answer } from './answer.ts';
import type { Reply } from '../domain/reply.ts';
import { answerBroken } from './broken-request.ts';
import { boundConnections } from './connections.ts';
import { runIdOf, type Caller } from '../domain/tokens/caller.ts';
import type { HttpContext } from './http-context.ts';
import { docsRoutes } from './api-docs.ts';
import { encodeReply } from '../domain/encode-reply.ts';
import { accessDenied, ApiError, notFound } from '../domain/api-error.ts';
import { compressed } from './compression.ts';
import { errorHandlers } from './error-handlers.ts';
import { askForBodies, boundsOf, takeIn } from './intake.ts';
import { addBodyParsers, readMultipart } from './parsing/bodies.ts';
import { MAX_BODY_BYTES } from '../domain/request-limits.ts';
import { readFields } from './parsing/fields.ts';
import { MAX_FIELDS, parseQuery } from './parsing/nest.ts';
import { transactionsOf } from '../stores/metadata/transaction.ts';
import { withIdempotency } from './with-idempotency.ts';
import { hasSeveralHosts } from '../platform/connections/hosts.ts';
import { guardSlowBodies } from '../platform/connections/slow-body-guard.ts';
import { OPENAPI, schemaOf } from './openapi.ts';
import { originOf } from './origin.ts';
import type { Route } from './route.ts';
import { inSlices } from './slices.ts';
import { watchTraffic } from './traffic.ts';

const BASE = '/v2/storage';

/** Bytes of the headers, with room for a query that names every column of a wide table. */
const MAX_HEADER_BYTES = 64 * 1024;
const HEADERS_MS = 20_000;
/** Milliseconds between two checks of the connections for that. */
const LOOK_MS = 5000;

/**
 * Validators that accept everything: the routes read the fields. They are given at the start, so that the framework's
 * own compilers are not even loaded.
 */
const SCHEMAS = {
  compilersFactory: {
    buildValidator: () => () => () => true,
    buildSerializer: () => () => (value: unknown) => encodeReply(value as Reply),
  },
  // Typed as the result of its own compilers; only the call is used.
} as unknown as NonNullable<FastifyServerOptions['schemaController']>;

/** Makes the HTTP side of the service: parsers, errors, and the routes given. It does not listen yet. */
export async function createApp(
  context: HttpContext,
  routes: readonly Route[],
  probes: readonly Probe[] = [],
): Promise<FastifyInstance> {
  const handlers = errorHandlers(context);
  const app = fastify({
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: 'idle',
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_MS,
      connectionsCheckingInterval: LOOK_MS,
    },
    clientErrorHandler: answerBroken(context.env),
    genReqId: (request) => requestIdOf(request.headers, context.env),
    // The address may have been joined from a base with a slash at its end.
    rewriteUrl: (request) => (request.url ?? '/').replace(/^\/{2,}/, '/'),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 4096, querystringParser: parseQuery },
    frameworkErrors: handlers.onError,
    schemaController: SCHEMAS,
  });
  guardSlowBodies(app.server);
  boundConnections(app.server, context.admission);
  app.addHook('onRequest', async ({ raw }) => {
    if (hasSeveralHosts(raw))
      throw new ApiError(400, 'malformedRequest', 'The request has more than one Host header.');
  });
  app.decorateRequest('visit');
  watchTraffic(app, context);
  askForBodies(app);
  app.setReplySerializer((value) => encodeReply(value as Reply));
  app.setErrorHandler(handlers.onError);
  app.setNotFoundHandler((request, reply) => handlers.onError(notFound('Not found'), request, reply));
  app.addHook('onSend', async (request, reply, payload) => {
    // Clients compare the whole header: a charset would hide the JSON from them.
    if (String(reply.getHeader('content-type')).startsWith('application/json'))
      reply.header('content-type', 'application/json');
    return await Promise.resolve(compressed(request, reply, payload));
  });
  addBodyParsers(app);
  await app.register(multipart, {
    throwFileSizeLimit: true,
    limits: { fieldSize: MAX_BODY_BYTES, fields: MAX_FIELDS, parts: MAX_FIELDS },
  });
  await app.register(swagger, { openapi: OPENAPI });
  const working = new Set<Promise<unknown>>();
  // The cleanup after a request with a cut connection still needs the resources of the service.
  app.addHook('onClose', async () => void (await Promise.allSettled(working)));
  const atWork: AtWork = async (work) => {
    const done = work();
    working.add(done);
    return await done.finally(() => working.delete(done));
  };
  // A route is documented only when it is added after the documentation's plugin has loaded.
  await app.register(async (scope) => {
    for (const route of [...routes, ...docsRoutes(() => scope.swagger())])
      addRoute(scope, context, route, atWork);
    for (const probe of probes) addProbe(scope, context, probe);
  });
  return app;
}

type AtWork = <T>(work: () => Promise<T>) => Promise<T>;

function addRoute(app: FastifyInstance, context: HttpContext, route: Route, atWork: AtWork): void {
  const scope = route.scope ?? 'both';
  const forms: { url: string; isPublic: boolean; isBranch: boolean }[] = [];
  const isPublic = route.access === 'public';
  const base = route.isOutside === true ? '' : BASE;
  if (scope !== 'branch') forms.push({ url: base + route.path, isPublic, isBranch: false });
  if (scope !== 'plain')
    forms.push({ url: `${BASE}/branch/:branch${route.path}`, isPublic: false, isBranch: true });
  for (const { url, isPublic: isOpen, isBranch } of forms) {
    const admitted = new WeakMap<FastifyRequest, Admitted>();
    const bounds = boundsOf(isOpen, route.maxBodyBytes ?? usualBytes(route));
    app.route({
      method: route.method,
      url,
      bodyLimit: bounds.maxBytes,
      schema: schemaOf(route, { isPublic: isOpen, isBranch }),
      config: { validationCode: route.validationCode ?? 'storage.validation' },
      onRequest: async (request) => {
        admitted.set(request, await judge(context, route, request, isOpen));
      },
      preParsing: async (request, reply, payload) => {
        const body = { request, reply, payload, isStream: route.isRaw === true };
        return await Promise.resolve(takeIn(app, context.env, bounds, body));
      },
      preValidation: async (request) => {
        if (route.isRaw !== true && request.isMultipart())
          request.body = await readMultipart(request, bounds.maxBytes);
      },
      handler: async (request, reply) => {
        return await withRequestId(request.id, async () => {
          const by = admitted.get(request);
          if (by === undefined) throw new Error('A request was not judged.');
          const call = callOf(context, route, request, by);
          const work = async () => await atWork(async () => await withIdempotency(context, route, call));
          const answer = await (request.visit?.during(work) ?? work());
          return await send(reply, answer, route.status ?? 200);
        });
      },
    });
  }
}

/**
 * Returns the usual limit of a body. A route that names a resource refuses callers without permission before; the
 * others get few bytes.
 */
function usualBytes({ path }: Route): number {
  return /:(?:bucket|component|table)\b/.test(path) ? MAX_BODY_BYTES : MAX_BODY_BYTES / 8;
}

/** Adds a probe. Open ones need nothing of the service that could fail or wait, and are never refused. */
function addProbe(app: FastifyInstance, context: HttpContext, probe: Probe): void {
  const schema: FastifySchema = {
    summary: probe.summary,
    tags: ['Service'],
    security: probe.isPrivate ? [{ token: [] }, { bearer: [] }] : [],
    response: { 200: { description: 'Yes' } },
  };
  app.get(probe.path, {
    schema,
    config: { isProbe: !probe.isPrivate },
    onRequest: async (request) => {
      if (!probe.isPrivate) return;
      const { caller } = await admit(context, request, { isOpen: false, branch: 'default' });
      if (caller?.isMaster !== true) throw accessDenied();
    },
    handler: async (request, reply) => {
      const { status, contentType, text } = await (request.visit?.during(probe.answer) ?? probe.answer());
      // As bytes: a text would get a charset.
      return await reply.code(status).type(contentType).send(Buffer.from(text));
    },
  });
}

type AnyCall = Parameters<Route['handle']>[0];

function callOf(
  context: HttpContext,
  route: Route,
  request: FastifyRequest,
  { caller, branch }: Admitted,
): AnyCall {
  const params = request.params as Readonly<Record<string, string>>;
  const contentType = request.headers['content-type'] ?? '';
  return {
    params,
    query: route.query === undefined ? {} : readFields(route.query, request.query as Json),
    body: readBody(route, request.body as Json | undefined),
    // Only open routes are called without one, and none of them uses the caller.
    caller: caller as Caller,
    branch,
    origin: context.publicUrl ?? originOf(request),
    // A token of a run is for that run alone, whatever the client says.
    runId: caller?.runLimits === undefined ? runIdOf(request.headers) : String(caller.runLimits.run),
    enqueues: route.enqueues ?? [],
    transact: transactionsOf(context.meta),
    madeFile: undefined,
    isForm: /^(?:application\/x-www-form-urlencoded|multipart\/)/i.test(contentType),
    request,
  };
}

function readBody(route: Route, body: Json | undefined): unknown {
  if (route.isRaw === true) return body ?? {};
  return route.body === undefined ? {} : readFields(route.body, body ?? {});
}

async function send(reply: FastifyReply, answer: unknown, status: number): Promise<unknown> {
  if (answer instanceof Answer) {
    reply.code(answer.status).headers(answer.headers);
    return answer.body === undefined ? await reply.send() : await sendBody(reply, answer.body);
  }
  reply.code(answer === undefined ? 204 : status);
  return answer === undefined ? await reply.send() : await sendBody(reply, answer);
}

async function sendBody(reply: FastifyReply, body: unknown): Promise<unknown> {
  const isStream = body instanceof Readable;
  if (isStream && reply.request.method === 'HEAD') {
    // The answer has no body, so its content is not even read.
    body.destroy();
    return await reply.send();
  }
  if (isStream) return await reply.send(body);
  if (typeof body === 'string' && reply.hasHeader('content-type')) return await sendText(reply, body);
  return await sendText(reply.type('application/json'), encodeReply(body as Reply));
}

/** Sends a long text slice by slice, so that a client which reads slowly differs from one that reads nothing. */
async function sendText(reply: FastifyReply, text: string): Promise<unknown> {
  if (text.length < LONG_TEXT || reply.request.method === 'HEAD') return await reply.send(text);
  const bytes = Buffer.from(text);
  return await reply.header('content-length', String(bytes.length)).send(inSlices([bytes]));
}

/** Characters of a text that a client reads between two checks even at the lowest allowed rate. */
const LONG_TEXT = 16 * 1024;
