/** Two rows over one root: a list with a cursor that asks for what is new, and a search followed by a scroll. */
export function demoConfiguration(baseUrl: string): Readonly<Record<string, unknown>> {
  return {
    name: 'Library',
    configuration: { parameters: { api: { baseUrl }, config: { outputBucket: 'library' } } },
    rows: [
      {
        id: 'books',
        configuration: {
          parameters: {
            api: {
              pagination: { method: 'response.param', responseParam: 'meta.next', queryParam: 'cursor' },
            },
            config: {
              incrementalOutput: true,
              jobs: [{ endpoint: 'books', params: { since: { time: 'previousStart' } } }],
            },
          },
        },
      },
      {
        id: 'search',
        configuration: {
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
                {
                  endpoint: 'search',
                  method: 'POST',
                  params: { q: 'sea' },
                  dataField: 'hits',
                  dataType: 'hits',
                },
              ],
            },
          },
        },
      },
    ],
    rowsSortOrder: ['books', 'search'],
  };
}
