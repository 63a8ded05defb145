import { createCaller } from '../../../src/engine/jobs/functions/index.ts';
import { systemEnv } from '../../../src/lib/env.ts';
import type { JobRequest } from '../../../src/engine/shared/message.ts';
import {
  compilePath,
  isList,
  isObject,
  objectOf,
  type AnyObject,
  type Json,
} from '../../../src/lib/json/index.ts';
import type { View } from '../../../src/engine/language/index.ts';

export const call = createCaller(systemEnv);

export interface Exchange {
  readonly body: Json;
  readonly rows?: readonly Json[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly request?: Partial<JobRequest>;
  readonly status?: number;
  readonly contexts?: Readonly<Record<string, AnyObject>>;
}

/** Returns the view of an exchange that the sources of a pagination have. */
export function viewOf({
  body,
  rows = rowsIn(body),
  headers = {},
  request,
  status = 200,
  contexts = {},
}: Exchange): View {
  const facts = {
    status,
    page: 1,
    rows: rows.length,
    read: rows.length,
    bytes: 0,
    url: 'https://api.test/items?page=1',
  };
  return {
    here: (path) => path.find(body),
    response: (path) => path.find(body),
    edge(which, path) {
      const row = rows.at(which === 'first' ? 0 : -1);
      return row === undefined ? undefined : path.find(row);
    },
    header: (name) => headers[name],
    answer: (fact) => facts[fact],
    contexts: () => contexts,
    request: requestOf(request),
  };
}

export function requestOf(parts: Partial<JobRequest> = {}): JobRequest {
  return { endpoint: 'items', method: 'GET', params: objectOf([]), headers: objectOf([]), ...parts };
}

function rowsIn(body: Json): readonly Json[] {
  const items = isObject(body) ? compilePath('items').find(body) : body;
  return isList(items) ? items : [];
}
