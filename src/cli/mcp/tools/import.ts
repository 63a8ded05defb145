import path from 'node:path';
import { Type } from 'typebox';
import { parsedJson } from '../parsed-json.ts';
import { readDataFile, readPythonBeside } from '../data-file.ts';
import { resultOf } from '../told-failure.ts';
import { defineTool } from '../tool.ts';

export const importConfiguration = defineTool({
  name: 'import_configuration',
  title: "Import another tool's configuration",
  description:
    'Makes a configuration from a declarative Airbyte connector manifest (YAML) or a dlt rest_api source (JSON or Python; nothing is run), with a report of how exactly each stream was taken over.',
  input: Type.Object({
    tool: Type.Union([Type.Literal('airbyte'), Type.Literal('dlt')]),
    text: Type.Optional(Type.String({ minLength: 1, description: 'The text of the file.' })),
    file: Type.Optional(
      Type.String({
        description:
          'In place of text: a file in the data folder. Files of Python beside a manifest are read with it.',
      }),
    ),
    name: Type.Optional(Type.String({ description: 'Name of the source.' })),
  }),
  works: 'apart',
  async run({ tool, text, file, name }, call) {
    const { session } = call;
    const read = text ?? (await readDataFile(session.dataFolder, file));
    const said = await session.ask(
      {
        kind: 'import',
        tool,
        text: read,
        file: file ?? (isJson(text) ? `${tool}.json` : `${tool}.${tool === 'dlt' ? 'py' : 'yaml'}`),
        name: name ?? (file === undefined ? tool : path.parse(file).name),
        ...(tool === 'airbyte' && file !== undefined && text === undefined
          ? { beside: await readPythonBeside(session.dataFolder, file) }
          : {}),
      },
      call,
    );
    const { report, configuration } = resultOf(said, 'imported').imported;
    return { report, configuration: parsedJson(configuration) };
  },
});

function isJson(text = ''): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
