import {
  collectSecrets,
  located,
  planRows,
  readConfig,
  resolveSecrets,
  resourceOf,
  type ConfigDocument,
  type RowPlan,
  type RowRun,
} from '../engine/config/index.ts';
import type { Decrypt } from '../lib/encryption/cipher.ts';
import { openSecrets } from '../lib/encryption/open.ts';
import { ConfigError } from '../lib/errors.ts';
import type { AuthType } from '../engine/http/auth/index.ts';
import { digKeys, isEmpty, type AnyObject } from '../lib/json/index.ts';
import type { Log } from '../lib/log.ts';
import type { PaginationMethod } from '../engine/pagination/index.ts';
import type { Secrets } from '../lib/secrets.ts';
import { checkConfiguration } from './check.ts';
import { decryptorFor, type DecryptOptions } from './decrypt.ts';
import { placed } from './place-error.ts';

export interface RunPlanOptions extends DecryptOptions {
  /** Holds `config.json`. */
  readonly dataFolder: string;
  /** The configuration, when it does not come from the data folder. */
  readonly document?: ConfigDocument | undefined;
  /** Ids of the rows to run, disabled ones included; all that are not disabled by default. */
  readonly rows?: readonly string[] | undefined;
  /** Makes warnings about the configuration errors. Default false. */
  readonly strict?: boolean;
  readonly log: Log;
  /**
   * Learns the secrets of the configuration before anything is logged. None of them reaches the log, an error or a host
   * that the configuration does not name, whether it is given or not.
   */
  readonly secrets?: Secrets;
  /** Pagination methods to choose from; all of this package by default. */
  readonly methods?: readonly PaginationMethod[];
  /** Kinds of authentication to choose from; all of this package by default. */
  readonly authTypes?: readonly AuthType[];
  /** Called when the configuration asks for a detailed log (`config.debug`). */
  readonly onDebug?: () => void;
}

/** Options with the secrets that the caller keeps. */
export type SecretPlanOptions = RunPlanOptions & { readonly secrets: Secrets };

/** A row that is ready to run: root and row merged, secrets in place. */
export interface ReadyRow {
  readonly row: RowRun;
  readonly configuration: AnyObject;
}

export interface Plan {
  readonly document: ConfigDocument;
  /** Id of the configuration; undefined for one that has none. */
  readonly id: string | undefined;
  /** In the order of the runs. */
  readonly ready: readonly ReadyRow[];
  /** Ids of disabled rows that were not asked for. */
  readonly skipped: readonly string[];
}

/**
 * Reads the configuration, checks it, and makes its rows ready.
 *
 * @param onError `refuse` ends here for a mistake; `warn` only tells of it, and the run finds out
 * @throws {ConfigError} naming the place
 */
export async function makePlan(options: SecretPlanOptions, onError: 'refuse' | 'warn'): Promise<Plan> {
  const { dataFolder, strict = false, environment = process.env, log, methods, authTypes } = options;
  const document = options.document ?? (await readConfig(dataFolder));
  hide(document.value, options);
  const plan = chooseRows(document, options);
  const decrypt = await decryptorFor(
    plan.runs.map(({ configuration }) => configuration),
    options,
  );
  if (decrypt !== undefined) {
    for (const { configuration } of plan.runs) hide(openSecrets(configuration, decrypt), options);
  }
  await checkConfiguration(document, plan, {
    onError,
    strict,
    environment,
    decrypt,
    methods,
    authTypes,
    log,
  });
  // for all rows before the first one runs, so that a missing secret is known early
  const ready = plan.runs.map((row) => makeReady(row, document, environment, decrypt, options));
  return { document, id: resourceOf(document).id, ready, skipped: plan.skipped.map(({ id = '' }) => id) };
}

function chooseRows(document: ConfigDocument, { rows }: RunPlanOptions): RowPlan {
  const resource = resourceOf(document);
  try {
    return planRows(resource, rows);
  } catch (error) {
    throw error instanceof ConfigError ? located(error, document) : error;
  }
}

function makeReady(
  row: RowRun,
  document: ConfigDocument,
  environment: NonNullable<RunPlanOptions['environment']>,
  decrypt: Decrypt | undefined,
  options: SecretPlanOptions,
): ReadyRow {
  try {
    const configuration = resolveSecrets(row.configuration, environment, decrypt);
    hide(configuration, options);
    if (!isEmpty(digKeys(['parameters', 'config', 'debug'], configuration))) options.onDebug?.();
    return { row, configuration };
  } catch (error) {
    throw placed(error, document, row);
  }
}

function hide(value: ConfigDocument['value'], { secrets }: SecretPlanOptions): void {
  for (const secret of collectSecrets(value)) secrets.add(secret);
}
