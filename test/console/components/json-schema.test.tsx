import { CompletionContext, type Completion } from '@codemirror/autocomplete';
import { json } from '@codemirror/lang-json';
import { EditorState } from '@codemirror/state';
import { describe, expect, test } from 'vitest';
import { completeBySchema, describeBySchema } from '../../../console/ui/json-schema.ts';

const SCHEMA = {
  properties: {
    method: { enum: ['GET', 'POST'], description: 'How it asks.', default: 'GET' },
    all: { type: 'boolean' },
    login: { $ref: '#/definitions/login' },
    jobs: {
      type: 'array',
      items: { required: ['endpoint'], properties: { id: {}, endpoint: { type: 'string' } } },
    },
  },
  definitions: {
    login: {
      title: 'The login',
      oneOf: [
        { required: ['type'], properties: { type: { const: 'basic' }, name: {}, '#password': {} } },
        { required: ['type'], properties: { type: { const: 'bearer' }, '#token': {} } },
      ],
    },
  },
};

/** Returns what is offered at the sign `|` of a text. */
async function offered(text: string): Promise<readonly Completion[]> {
  const pos = text.indexOf('|');
  const state = EditorState.create({ doc: text.replace('|', ''), extensions: [json()] });
  const result = await completeBySchema(SCHEMA)(new CompletionContext(state, pos, true));
  return result?.options ?? [];
}

const labels = async (text: string): Promise<string[]> => (await offered(text)).map(({ label }) => label);

describe('the editor of a configuration offers', () => {
  test.each([
    ['keys that are not there yet', '{"method": "GET", |}', ['all', 'login', 'jobs']],
    ['keys that have the typed letters, those that begin with them first', '{"l|"}', ['login', 'all']],
    ['the values of a key', '{"method": |}', ['"GET"', '"POST"']],
    ['yes and no', '{"all": |}', ['true', 'false']],
    ['every kind of login', '{"login": {"type": |}}', ['"basic"', '"bearer"']],
    ['the keys of the chosen kind', '{"login": {"type": "basic", |}}', ['name', '#password']],
    ['the keys of an item of a list', '{"jobs": [{|}]}', ['id', 'endpoint']],
    ['nothing for what it does not know', '{"other": {|}}', []],
  ])('%s', async (_, text, found) => {
    expect(await labels(text)).toEqual(found);
  });

  test('what is required before the rest, with an empty value of its kind', async () => {
    const [id, endpoint] = await offered('{"jobs": [{|}]}');
    expect([id?.boost, endpoint?.boost]).toEqual([0, 2]);
    expect([id?.apply, endpoint?.apply]).toEqual(['"id": ', '"endpoint": ""']);
  });
});

test('a key under the pointer is described, with its default', () => {
  const state = EditorState.create({ doc: '{"method": "GET"}', extensions: [json()] });
  const tooltip = describeBySchema(SCHEMA, state, 3);
  // A view is more than it needs.
  expect(tooltip?.create({} as never).dom.textContent).toBe('How it asks.Default: "GET"');
  expect(describeBySchema(SCHEMA, state, 13)).toBeNull();
});
