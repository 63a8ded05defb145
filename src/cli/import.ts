import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { RunError } from '../lib/errors.ts';
import { flag, valued, type Command } from './command.ts';

export const importCommand: Command = {
  name: 'import',
  describe:
    'Make a configuration from that of another tool, and say for each stream how much of it was taken over',
  words: [
    {
      name: 'tool',
      describe:
        'airbyte: a declarative connector manifest; dlt: a rest_api source in JSON or Python; singer: tap-rest-api-msdk; n8n: a workflow; curl: a script with a loop; postman, har',
      isRequired: true,
    },
    { name: 'file', describe: 'The file to import', isRequired: true },
  ],
  options: {
    out: valued(
      'DIR',
      'The data folder that the configuration is written to; without it only the report is printed',
    ),
    settings: valued(
      'FILE',
      'Settings of the connector as JSON or YAML: they become those of the configuration',
    ),
    components: valued(
      'FILE',
      'The Python file with the classes that the manifest names; by default components.py and others beside it',
    ),
    check: flag(
      'Run each stream for two pages of two windows, push nothing, and compare with what the report claims',
    ),
    recording: valued(
      'FILE|DIR',
      'With --check or --against: answers in place of the API, a HAR file or a folder with exchanges of a fixture',
    ),
    against: valued(
      'DIR',
      'Compare the rows of a whole run, which pushes nothing, with records of the other tool in this folder',
    ),
    tables: valued(
      'DIR',
      'With --against: the data folder of a run whose tables are compared in place of one',
    ),
    force: flag('Replace a configuration that is there already'),
    report: valued('FILE', 'Write the report as a page to hand on: one file of HTML'),
    json: flag('Print the report as JSON'),
  },
  examples: [
    ['gex import airbyte manifest.yaml', 'Only look what could be taken over'],
    ['gex import airbyte manifest.yaml --out my-api', 'Write my-api/config.json and the report beside it'],
    ['gex import dlt shop_pipeline.py --out my-shop', 'Read the dictionary in a Python file; nothing is run'],
    [
      'gex import singer meltano.yml --out my-shop',
      'The configuration of tap-rest-api-msdk in a Meltano project',
    ],
    ['gex import n8n workflow.json --out my-shop', 'The HTTP Request nodes of a workflow'],
    ['gex import curl fetch.sh --out my-shop', 'A loop around curl'],
    [
      'gex import airbyte manifest.yaml --out my-api --settings settings.json',
      'With the settings of a connector',
    ],
    [
      'gex import airbyte manifest.yaml --settings settings.json --check',
      'Ask the API a little, and see which streams do what is claimed',
    ],
    [
      'gex import airbyte manifest.yaml --settings settings.json --against records',
      'Compare all rows with those that the other tool has read',
    ],
  ],
  async run(args, io) {
    const tool = args.word('tool');
    const file = args.word('file');
    const settingsFile = args.text('settings');
    const { readYaml } = await import('../authoring/importing/airbyte/read-yaml.ts');
    const settings = settingsFile === undefined ? undefined : readYaml(textOf(settingsFile), settingsFile);
    const componentsFile = args.text('components');
    const components = componentsFile === undefined ? undefined : textOf(componentsFile);
    const { checked } = await import('../authoring/importing/check.ts');
    const { importText } = await import('../authoring/importing/import-text.ts');
    const claimed = await checked(
      await importText(tool, {
        text: textOf(file),
        file,
        name: nameFor(file),
        settings,
        readBeside: besides(file, components),
      }),
    );
    const { afterwards } = await import('./import-check.ts');
    const { imported, code } = await afterwards(claimed, args, io);
    const out = args.text('out');
    if (out !== undefined) {
      const { writeImported } = await import('../authoring/importing/write.ts');
      const { typedImport } = await import('../authoring/typed-jobs.ts');
      const written = writeImported(typedImport(imported), out, args.isSet('force'));
      io.note(`Written: ${written}`);
    }
    const page = args.text('report');
    if (page !== undefined) {
      const { writeReportPage } = await import('../authoring/importing/write.ts');
      writeReportPage(imported.report, page);
      io.note(`Written: ${page}`);
    }
    const { reportText } = await import('../authoring/importing/report.ts');
    io.print(args.isSet('json') ? JSON.stringify(imported.report, null, 2) : reportText(imported.report));
    return code;
  },
};

/**
 * Returns the name of an import: the file is often called `manifest.yaml`, and its folder has the name of the
 * connector.
 */
function nameFor(file: string): string {
  const { dir, name } = path.parse(path.resolve(file));
  return name === 'manifest' ? path.basename(dir) : name;
}

/** Returns how the files of a connector are read: from beside the manifest, and Python from one that is given. */
function besides(file: string, components: string | undefined): (beside: string) => string | undefined {
  const folder = path.dirname(file);
  return (beside) => {
    if (components !== undefined && beside.endsWith('.py')) return components;
    const found = path.join(folder, beside);
    return existsSync(found) ? readFileSync(found, 'utf8') : undefined;
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : '';
    throw new RunError('import.invalid', `The file ${file} cannot be read: ${reason}`, {
      where: { file },
      cause: error,
    });
  }
}
