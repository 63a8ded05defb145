import { needsSeal, sealText } from '../../encryption/index.ts';
import type { Context } from './context.ts';
import { badRequest } from './errors.ts';
import { contentOf, findConfiguration, requireRow } from './meta/configurations/read.ts';
import { findRowHead } from './meta/configurations/row-model.ts';
import type { Meta } from './meta/database.ts';
import type { ConfigurationKey } from './meta/tables.ts';

/** JSON texts to be stored. */
export interface Contents {
  readonly configuration?: string;
  readonly state?: string;
}

/**
 * The contents as they are stored: plain values of `#` keys encrypted for project and component, so that copies,
 * branches and older versions can be read too. All else stays as it is, and so does a value that is the same as in
 * `stored`: an update that sends it again changes nothing, and makes no version.
 *
 * @param stored what the contents replace; asked for only when there is something to encrypt
 * @throws {ApiError} 400 for a value that only begins like an encrypted one
 */
export async function sealContents<Given extends Contents>(
  context: Context,
  key: ConfigurationKey,
  given: Given,
  stored?: () => Promise<Contents>,
): Promise<Given> {
  const fields = (['configuration', 'state'] as const).filter((field) => needsSeal(given[field] ?? ''));
  if (fields.length === 0) return given;
  const before = (await stored?.()) ?? {};
  const sealed = fields.map((field) => [field, seal(context, key, field, given, before[field])] as const);
  return { ...given, ...Object.fromEntries(sealed) };
}

function seal(
  { keys, env, project }: Context,
  key: ConfigurationKey,
  field: keyof Contents,
  given: Contents,
  before: string | undefined,
): string {
  const scope = { project: String(project.id), component: key.component_id };
  const { text, problems } = sealText(given[field] ?? '', { keys, scope, env, before });
  const [problem] = problems;
  if (problem === undefined) return text;
  const code =
    field === 'configuration' ? 'validation.invalidConfigurationFormat' : 'validation.invalidStateFormat';
  const place = problem.keys.join('.');
  throw badRequest(
    code,
    `The ${field} has a value at ${place} that begins like an encrypted one, and is not whole. Copy it again, or send the plain value.`,
  );
}

/** What a configuration holds now; empty when there is none. */
export async function storedContents(meta: Meta, key: ConfigurationKey): Promise<Contents> {
  const found = await findConfiguration(meta, key);
  if (found === undefined) return {};
  return { configuration: await contentOf(meta, found.version), state: found.head.state };
}

/** What a live row holds now; empty when there is none. */
export async function storedRowContents(meta: Meta, key: ConfigurationKey, row: string): Promise<Contents> {
  const known = await findRowHead(meta, key, row);
  if (known === undefined || known.is_deleted === 1) return {};
  const { head, version } = await requireRow(meta, key, row);
  return { configuration: version.configuration, state: head.state };
}
