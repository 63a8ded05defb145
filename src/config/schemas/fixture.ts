import type { OptionSchema } from '../../evaluate.ts';

/**
 * A file of `fixtures/<example>/api/`: what the example API answers. One exchange, or a list of them; a request is
 * answered by the first exchange that fits it and has not been used up.
 */
export const fixtureSchema: OptionSchema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  $id: 'https://generic-extractor/schemas/fixture.schema.json',
  title: 'Exchanges of an example API',
  description: 'What is asked and what is answered, for examples and tests.',
  anyOf: [{ $ref: '#/definitions/exchange' }, { type: 'array', items: { $ref: '#/definitions/exchange' } }],
  definitions: {
    exchange: {
      title: 'Exchange',
      description: 'One request and its response.',
      type: 'object',
      required: ['request', 'response'],
      additionalProperties: false,
      properties: {
        $schema: key('Schema', 'Where editors find this schema.', 'string', ['../../../schemas/fixture.schema.json']),
        description: key('Description', 'What the exchange shows.', 'string', ['The second page is the last one']),
        times: {
          ...key('Times', 'How often the exchange may be used; without a limit when it is left out.', 'integer', [1]),
          minimum: 1,
        },
        request: {
          title: 'Request',
          description: 'What must be asked. Only the parts that are given are compared.',
          type: 'object',
          required: ['path'],
          additionalProperties: false,
          examples: [{ method: 'GET', path: '/users?page=2' }],
          properties: {
            method: { ...key('Method', 'HTTP method.', 'string', ['POST']), default: 'GET' },
            path: key('Path', 'Path and query as they stand on the wire.', 'string', ['/users?page=2']),
            headers: {
              ...key('Headers', 'Headers that must be there; names without regard to case.', 'object', [{ 'x-token': 'abc' }]),
              additionalProperties: { type: 'string' },
            },
            body: key('Body', 'The body: a text is compared as it is, JSON by its value.', undefined, [{ query: 'active' }, 'a=1&b=2']),
          },
        },
        response: {
          title: 'Response',
          description: 'What is answered.',
          type: 'object',
          additionalProperties: false,
          examples: [{ status: 200, body: [{ id: 1 }] }],
          properties: {
            status: { ...key('Status', 'HTTP status.', 'integer', [404]), minimum: 100, maximum: 599, default: 200 },
            headers: {
              ...key('Headers', 'Headers of the response. `content-type` is JSON when the body is.', 'object', [{ link: '</users?page=3>; rel="next"' }]),
              additionalProperties: { type: 'string' },
            },
            body: key('Body', 'The body: a text is sent as it is, anything else as JSON.', undefined, [[{ id: 1 }], 'not found']),
            delayMs: { ...key('Delay', 'Milliseconds to wait before the answer.', 'integer', [50]), minimum: 0, default: 0 },
          },
        },
      },
    },
  },
};

function key(title: string, description: string, type: string | undefined, examples: readonly unknown[]): OptionSchema {
  return { title, description, ...(type === undefined ? {} : { type }), examples };
}
