import type { Decrypt } from '../../lib/encryption/cipher.ts';
import { openSecrets } from '../../lib/encryption/open.ts';
import { ConfigError, ExtractorError } from '../../lib/errors.ts';
import type { AuthType } from '../http/auth/index.ts';
import { digKeys, getKey, objectOf, type AnyObject } from '../../lib/json/index.ts';
import type { PaginationMethod } from '../pagination/index.ts';
import { nearest } from '../../lib/suggest.ts';
import { checkConnection } from './check-connection.ts';
import { explain } from './explain.ts';
import { parseExtractorConfig } from './extractor-config.ts';
import { ConfigFindings, type Problem } from './findings.ts';
import { isEmptyContainer } from './normalise.ts';
import { keysOfPath, pathText, type KeyPath } from './path.ts';
import { parseConfig, resourceOf, type ConfigDocument } from './read-config.ts';
import { isWrapped, WRAPPED_HINT, type ConfigResource } from './resource.ts';
import { planRows, type RowRun } from './rows.ts';
import { resolveSecrets, secretProblems } from './secrets.ts';
import { checkStages } from './stages.ts';
import { check, type SchemaError } from './check.ts';
import { validate } from './validator.generated.ts';

export interface ValidateOptions {
  /** Makes unknown keys and other warnings errors. Default false. */
  readonly strict?: boolean;
  /** Environment for `$env:NAME` values; without it they are not looked up. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** True if the run may have another environment: a variable that is not set is a warning. Default false. */
  readonly isElsewhere?: boolean;
  /** Reads encrypted values; without it each of them is an error. */
  readonly decrypt?: Decrypt | undefined;
  /** Ids of the rows to check. All by default. */
  readonly rows?: readonly string[];
  /** Pagination methods to choose from; all of this package by default. Keys of further ones are not checked. */
  readonly methods?: readonly PaginationMethod[] | undefined;
  /** Kinds of authentication to choose from; all of this package by default. Keys of further ones are not checked. */
  readonly authTypes?: readonly AuthType[] | undefined;
}

/**
 * Checks a configuration, and returns all problems in the order of the text. With rows, the merged configuration of
 * every row is checked, and a problem is placed where the row or the root has the value.
 *
 * @param input the text of config.json, or what `readConfig` gave
 */
export async function validateConfig(
  input: string | ConfigDocument,
  options: ValidateOptions = {},
): Promise<readonly Problem[]> {
  let document: ConfigDocument;
  let resource: ConfigResource;
  try {
    document = typeof input === 'string' ? parseConfig(input) : input;
    resource = resourceOf(document);
  } catch (error) {
    if (error instanceof ConfigError) return [problemOf(error)];
    throw error;
  }
  const findings = new ConfigFindings(document, resource, options.strict ?? false);
  checkDocument(document, resource, findings);
  for (const run of runsOf(resource, findings, options.rows)) await checkRun(run, findings, options);
  return findings.sorted();
}

/** Checks the form of the document, its repeated keys, and its order of rows. */
function checkDocument(document: ConfigDocument, resource: ConfigResource, findings: ConfigFindings): void {
  for (const { path, position } of document.duplicates()) {
    findings.addAt(
      position,
      path,
      'warning',
      `\`${path.at(-1) ?? ''}\` stands here a second time; this one counts.`,
    );
  }
  const ids = resource.rows.map(({ id }) => id);
  resource.rowsSortOrder.forEach((id, index) => {
    if (ids.includes(id)) return;
    const meant = nearest(id, ids);
    const hint = meant === undefined ? '' : ` Did you mean “${meant}”?`;
    findings.addInDocument(
      ['rowsSortOrder', String(index)],
      'warning',
      `There is no row “${id}” to order.${hint}`,
    );
  });
  const parts: [KeyPath, AnyObject][] = [
    [resource.form === 'component' ? [] : ['configuration'], resource.configuration],
    ...resource.rows.map((row): [KeyPath, AnyObject] => [
      ['rows', String(row.index), 'configuration'],
      row.configuration,
    ]),
  ];
  for (const [keys, configuration] of parts) {
    if (isWrapped(configuration)) findings.addInDocument([...keys, 'configuration'], 'warning', WRAPPED_HINT);
    const processors = getKey(configuration, 'processors');
    if (processors === undefined || processors === null || isEmptyContainer(processors)) continue;
    findings.addInDocument([...keys, 'processors'], 'warning', 'Processors are not run by this program.');
  }
}

/** Returns the runs of all rows; each row is planned alone, so that one that cannot be merged hides no other. */
function runsOf(
  resource: ConfigResource,
  findings: ConfigFindings,
  wanted: readonly string[] | undefined,
): readonly RowRun[] {
  const chosen = resource.rows.filter(({ id }) => wanted?.includes(id) ?? true);
  const ids = resource.rows.length === 0 ? [[]] : chosen.map(({ id }) => [id]);
  return ids.flatMap((named) => {
    try {
      return planRows(resource, named).runs;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      findings.add({ id: named[0] }, pathKeys(error), 'error', error.message, { hint: error.hint });
      return [];
    }
  });
}

async function checkRun(sealed: RowRun, findings: ConfigFindings, options: ValidateOptions): Promise<void> {
  const { decrypt } = options;
  const configuration =
    decrypt === undefined ? sealed.configuration : openSecrets(sealed.configuration, decrypt);
  const run = { ...sealed, configuration };
  const errors = explain(schemaErrors(configuration), configuration);
  for (const { keys, message, ...rest } of errors) {
    if (!isAdded(keys, configuration, options)) findings.add(run, keys, 'error', message, rest);
  }
  const secrets = secretProblems(sealed.configuration, options.env, decrypt);
  for (const { keys, message, hint, isUnset } of secrets) {
    const severity = isUnset === true && options.isElsewhere === true ? 'warning' : 'error';
    findings.add(run, keys, severity, message, { hint });
  }
  await warnOfKeys(
    run,
    findings,
    errors.map(({ keys }) => keys),
  );
  checkMeaning(run, sealed.configuration, findings, { ...options, hasSecrets: secrets.length === 0 });
}

/** Loads the full schema only to warn of keys: it has the texts for people, and a run without warnings needs none. */
async function warnOfKeys(run: RowRun, findings: ConfigFindings, wrong: readonly KeyPath[]): Promise<void> {
  const { componentSchema, configOptions } = await import('./schema.ts');
  const { oddKeys, unusedNearMisses } = await import('./unknown-keys.ts');
  const unknownKinds = new Set(wrong.filter(isKind).map((keys) => pathText(keys.slice(0, -1))));
  for (const { keys, suggestion, deprecated } of oddKeys(run.configuration, componentSchema)) {
    if (unknownKinds.has(pathText(keys.slice(0, -1)))) continue;
    if (keys.length === 1 && keys[0] === 'configuration' && isWrapped(alone(run.configuration))) continue;
    const what =
      deprecated === undefined ? 'no known key here, and has no effect.' : `deprecated. ${deprecated}`;
    findings.addKey(run, keys, 'warning', `\`${keys.at(-1) ?? ''}\` is ${what}`, suggestion);
  }
  const parameters = digKeys(['parameters'], run.configuration) ?? null;
  for (const { keys, suggestion } of unusedNearMisses(parameters, configOptions)) {
    const key = keys.at(-1) ?? '';
    findings.addKey(run, keys, 'warning', `\`${key}\` is an attribute that no function uses.`, suggestion);
  }
}

/**
 * Tells whether a key names a method or a type that a library user added: the schema knows only those of this package.
 */
function isAdded(
  keys: KeyPath,
  configuration: AnyObject,
  { methods = [], authTypes = [] }: ValidateOptions,
): boolean {
  if (!isKind(keys)) return false;
  const names = [...methods.map(({ method }) => method), ...authTypes.map(({ type }) => type)];
  const word = digKeys(keys, configuration);
  return typeof word === 'string' && names.includes(word);
}

/** Tells whether a key tells the kind of the object it is in: of an unknown kind, no key is known. */
function isKind(keys: KeyPath): boolean {
  const [, , node] = keys;
  return keys.at(-1) === 'method'
    ? node === 'pagination'
    : keys.at(-1) === 'type' && node === 'authentication';
}

/** Returns the `configuration` in a configuration, without the values of the root, whose warnings are known already. */
function alone(configuration: AnyObject): AnyObject {
  return objectOf([['configuration', getKey(configuration, 'configuration') ?? null]]);
}

/** Checks the rules between keys, and the small languages inside texts, which the schema cannot express. */
function checkMeaning(
  run: RowRun,
  sealed: AnyObject,
  findings: ConfigFindings,
  options: ValidateOptions & { readonly hasSecrets: boolean },
): void {
  const { env, decrypt } = options;
  try {
    const hasSecrets = env !== undefined && options.hasSecrets;
    const configuration = hasSecrets ? resolveSecrets(sealed, env, decrypt) : run.configuration;
    const config = parseExtractorConfig(configuration);
    for (const { path, message } of config.warnings) findings.add(run, keysOfPath(path), 'warning', message);
    checkStages(config, options.methods, ({ path, message, hint, severity }) =>
      findings.add(run, keysOfPath(path), severity, message, { hint }),
    );
    // A value that is still to come from the environment, or is encrypted, may be anything.
    if (hasSecrets || secretProblems(sealed, {}, decrypt).length === 0) checkConnection(config);
  } catch (error) {
    if (!(error instanceof ExtractorError)) throw error;
    findings.addUnlessKnown(run, pathKeys(error), error.message, error.hint);
  }
}

function pathKeys(error: ExtractorError): KeyPath {
  return keysOfPath(error.where.path ?? '');
}

function problemOf(error: ConfigError): Problem {
  const { path = '', line, column } = error.where;
  return {
    severity: 'error',
    path,
    message: error.message,
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  };
}

/**
 * Returns the errors of a component configuration by its schema, in the validator's words; empty when it is valid. Fast
 * enough for every start: the validator was compiled beforehand.
 */
function schemaErrors(configuration: AnyObject): readonly SchemaError[] {
  return check(configuration, validate);
}

/** Tells whether a configuration is valid by the schema. `validateConfig` gives the reasons. */
export function isValid(configuration: AnyObject): boolean {
  return schemaErrors(configuration).length === 0;
}
