import { countPlain, sealText } from '../../../lib/encryption/index.ts';
import type { Context } from '../../domain/context.ts';
import { badRequest } from '../../domain/api-error.ts';
import { contentOf, findConfiguration, requireRow } from '../../domain/configurations/read-configuration.ts';
import { findRowHead, rowConfiguration } from '../../domain/configurations/row-model.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import type { ConfigurationKey } from '../../stores/metadata/tables.ts';

/** JSON texts to be stored. */
export interface Contents {
  readonly configuration?: string;
  readonly state?: string;
}

/**
 * Returns the contents as they are stored: plain values of `#` keys encrypted for project and component, so that
 * copies, branches and older versions can be read too. Everything else stays as it is, and so does a value that is
 * the same as in `stored`: an update that sends it again changes nothing, and makes no version.
 *
 * @param stored the contents that are replaced; read only when there is something to encrypt
 * @throws {ApiError} 400 for a value that only begins like an encrypted one, and for more than can be encrypted
 */
export async function sealContents<Given extends Contents>(
  context: Context,
  key: ConfigurationKey,
  given: Given,
  stored?: () => Promise<Contents>,
): Promise<Given> {
  const fields = (['configuration', 'state'] as const).filter((field) => isToSeal(field, given[field]));
  if (fields.length === 0) return given;
  const before = (await stored?.()) ?? {};
  const sealed = fields.map((field) => [field, seal(context, key, field, given, before[field])] as const);
  return { ...given, ...Object.fromEntries(sealed) };
}

/** Most values to encrypt at once: they take about a quarter of a second, in which nothing else is done. */
const MAX_SECRETS = 10_000;

function isToSeal(field: keyof Contents, text = ''): boolean {
  const count = countPlain(text);
  if (count <= MAX_SECRETS) return count > 0;
  throw badRequest(
    formatCode(field),
    `The ${field} has ${count} plain values below # keys; at most ${MAX_SECRETS} are encrypted at a time.`,
  );
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
  const place = problem.keys.join('.');
  throw badRequest(
    formatCode(field),
    `The ${field} has a value at ${place} that begins like an encrypted one, and is not whole. Copy it again, or send the plain value.`,
  );
}

const formatCode = (field: keyof Contents): string =>
  field === 'configuration' ? 'validation.invalidConfigurationFormat' : 'validation.invalidStateFormat';

/** Reads the current contents of a configuration; empty when there is none. */
export async function storedContents(meta: Meta, key: ConfigurationKey): Promise<Contents> {
  const found = await findConfiguration(meta, key);
  if (found === undefined) return {};
  return { configuration: await contentOf(meta, found.version), state: found.head.state };
}

/** Reads the current contents of a live row; empty when there is none. */
export async function storedRowContents(meta: Meta, key: ConfigurationKey, row: string): Promise<Contents> {
  const known = await findRowHead(meta, key, row);
  if (known === undefined || known.is_deleted === 1) return {};
  const { head, version } = await requireRow(meta, key, row);
  return { configuration: rowConfiguration(version), state: head.state };
}
