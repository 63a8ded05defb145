import type { FastifySchema } from 'fastify';
import { ErrorBody } from '../../storage/protocol/error.ts';
import type { Route } from './route.ts';

/** Head of the OpenAPI document; the paths come from the routes. */
export const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'Storage and configuration service',
    version: 'v2',
    description: `Files, tables, jobs and component configurations. Every body may be JSON, a form or multipart; every path of a project also exists below \`/v2/storage/branch/<branch>\`.

Every request but the index and the health has a token. The first start of the service printed the master token; \`gex serve --new-token\` makes a further one.

    export STORAGE_URL=… STORAGE_TOKEN=…
    curl "$STORAGE_URL/v2/storage/tokens/verify" -H "X-StorageApi-Token: $STORAGE_TOKEN"

An answer with status 202 is a job: ask for its \`url\` until its \`status\` is \`success\` or \`error\`. Errors are JSON with \`error\`, \`code\` and \`exceptionId\`, which the log of the service knows.`,
  },
  // In the order of use; the rest follows.
  tags: ['Index', 'Files', 'Importer', 'Buckets', 'Tables', 'Import', 'Export', 'Jobs', 'Components'].map(
    (name) => ({ name }),
  ),
  components: {
    securitySchemes: {
      token: { type: 'apiKey' as const, in: 'header' as const, name: 'X-StorageApi-Token' },
      bearer: { type: 'http' as const, scheme: 'bearer' },
    },
  },
};

/** Describes one form of a route in the document. */
export function schemaOf(route: Route, form: { isPublic: boolean; isBranch: boolean }): FastifySchema {
  const status = route.status ?? (route.response === undefined ? 204 : 200);
  if (route.isHidden === true) return { hide: true };
  return {
    summary: route.summary,
    tags: [route.tag],
    security: form.isPublic ? [] : [{ token: [] }, { bearer: [] }],
    ...(form.isBranch ? { description: 'In the branch of that number, or in `default`.' } : {}),
    ...(route.query === undefined ? {} : { querystring: route.query }),
    ...(route.body === undefined ? {} : { body: route.body, consumes: CONSUMES }),
    response: {
      [status]: route.response ?? { description: 'Done', type: 'null' },
      '4xx': ErrorBody,
    },
  };
}

const CONSUMES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];
