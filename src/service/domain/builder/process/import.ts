import { typedImport } from '../../../../authoring/typed-jobs.ts';
import { readYaml } from '../../../../authoring/importing/airbyte/read-yaml.ts';
import { checked } from '../../../../authoring/importing/check.ts';
import { importText } from '../../../../authoring/importing/import-text.ts';
import type { AskedToImport, ImportAnswer } from '../builder-types.ts';

/**
 * Makes a configuration from that of another tool, as `gex import` does.
 *
 * @throws {ExtractorError} for a text that cannot be read
 */
export async function importAsked({
  tool,
  text,
  file,
  name,
  settings,
  beside,
}: AskedToImport): Promise<ImportAnswer> {
  const read = settings === undefined ? undefined : readYaml(settings, 'the settings');
  const readBeside =
    beside === undefined
      ? undefined
      : (path: string) => (Object.hasOwn(beside, path) ? beside[path] : undefined);
  const imported = await importText(tool, { text, file, name, settings: read, readBeside });
  const { configuration, report } = typedImport(await checked(imported));
  return { configuration: JSON.stringify(configuration), report };
}
