import type { StorageClient } from '../../src/storage/client/index.ts';
import type { Configuration } from '../../src/storage/protocol/index.ts';

export const COMPONENT = 'ex-generic-v2';
export const CONFIGURATION = 'library';

/** Returns the configuration that both rows share: the address of the API, and the bucket of the tables. */
function rootOf(baseUrl: string): object {
  return { parameters: { api: { baseUrl }, config: { outputBucket: 'lib' } } };
}

/** A list with a cursor in the response, that asks for what is new and adds it to its tables. */
const books = {
  parameters: {
    api: { pagination: { method: 'response.param', responseParam: 'meta.next', queryParam: 'cursor' } },
    config: {
      incrementalOutput: true,
      jobs: [{ endpoint: 'books', params: { since: { time: 'previousStart' } } }],
    },
  },
};

/** A search by POST, followed by a scroll by GET. */
const search = {
  parameters: {
    api: {
      pagination: {
        method: 'response.param',
        responseParam: 'scroll.token',
        queryParam: 'token',
        scrollRequest: { endpoint: 'scroll', method: 'GET' },
      },
    },
    config: {
      jobs: [
        { endpoint: 'search', method: 'POST', params: { q: 'sea' }, dataField: 'hits', dataType: 'hits' },
      ],
    },
  },
};

/** Makes the configuration of two rows in the service; every call makes a version of it. */
export async function createConfiguration(client: StorageClient, baseUrl: string): Promise<Configuration> {
  const configurations = client.configurations(COMPONENT);
  await configurations.create({
    configurationId: CONFIGURATION,
    name: 'Library',
    configuration: rootOf(baseUrl),
  });
  const rows = configurations.rows(CONFIGURATION);
  await rows.create({ rowId: 'books', name: 'All books', configuration: books });
  await rows.create({ rowId: 'search', name: 'Books about the sea', configuration: search });
  return await configurations.detail(CONFIGURATION);
}
