import { Type } from 'typebox';
import type { Found } from '../../../service/domain/builder/builder-types.ts';
import { parsedJson } from '../parsed-json.ts';
import { readDataFile } from '../data-file.ts';
import { resultOf } from '../told-failure.ts';
import { defineTool } from '../tool.ts';

const MOST_LISTS = 60;
const ANSWER_LETTERS = 4000;

export const lookAtApi = defineTool({
  name: 'look_at_api',
  title: 'Look at an API, and propose a configuration',
  description:
    'Asks an address (GET requests as far as possible), finds its rows, their id and how the pages follow, proves it, and returns a configuration for config.json with the evidence. Takes also the text of an OpenAPI document, a Postman collection or a HAR file: their lists become rows of a configuration, and nothing is asked. Secrets are given by name alone, as $env:NAME.',
  input: Type.Object({
    source: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'An address, a curl command, or the text of an OpenAPI, Postman or HAR document.',
      }),
    ),
    file: Type.Optional(Type.String({ description: 'In place of source: a file in the data folder.' })),
    auth: Type.Optional(
      Type.String({
        description:
          "How to log in: 'bearer:$env:NAME', 'basic:USER:$env:NAME', 'header:X-Api-Key=$env:NAME' or 'query:api_key=$env:NAME'.",
      }),
    ),
    headers: Type.Optional(Type.Array(Type.String(), { description: 'NAME: VALUE', maxItems: 50 })),
    select: Type.Optional(
      Type.String({
        description: 'Of a document with several lists, those that have this in their address.',
      }),
    ),
    maxRequests: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 12 })),
  }),
  works: 'at an API',
  async run({ source, file, auth, headers, select, maxRequests = 12 }, call) {
    const { session } = call;
    const said = await session.ask(
      {
        kind: 'explore',
        source: source ?? (await readDataFile(session.dataFolder, file)),
        auth,
        headers,
        select,
        maxRequests: session.requestsFor(call, maxRequests),
        environment: session.grants.variables,
      },
      call,
    );
    return shown(resultOf(said, 'found').found);
  },
});

function shown(found: Found): unknown {
  const configuration = parsedJson(found.configuration);
  if (found.form === 'document') {
    const { lists, skipped } = found;
    const isCut = lists.length > MOST_LISTS || skipped.length > MOST_LISTS;
    return {
      ...found,
      lists: lists.slice(0, MOST_LISTS),
      skipped: skipped.slice(0, MOST_LISTS),
      ...(isCut ? { note: `Of ${lists.length} lists the first are shown: choose with select.` } : {}),
      configuration,
    };
  }
  const { answer, ...list } = found;
  return { ...list, configuration, answer: answer.slice(0, ANSWER_LETTERS).toWellFormed() };
}
