import { collectSecrets, readConfig } from '../../engine/config/index.ts';
import { REACH_VARIABLE, type ReachRules } from '../../engine/http/trust/reach.ts';
import { openSecrets } from '../../lib/encryption/open.ts';
import { RunError } from '../../lib/errors.ts';
import { decryptorFor } from '../../runner/decrypt.ts';
import { entriesOf, isList, isObject, type Json } from '../../lib/json/index.ts';

/** Hosts and variables that the user has named, on the command line or in the configuration of the data folder. */
export interface Grants {
  readonly hosts: readonly string[];
  /** Values by name. */
  readonly variables: Readonly<Record<string, string>>;
  /** Variable for processes that ask APIs, with the rules on hosts. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Reads the grants once, at the start: a configuration that changes later grants nothing more.
 *
 * Addresses of this machine and of private networks are for hosts of the command line alone: a name in a configuration
 * may lead anywhere.
 */
export async function readGrants(
  dataFolder: string,
  given: { readonly hosts: readonly string[]; readonly variables: readonly string[] },
): Promise<Grants> {
  const document = await readConfig(dataFolder).then(
    ({ value }) => value,
    () => null,
  );
  const texts = [...textsOf(document)];
  const hosts = [...new Set([...given.hosts, ...texts.flatMap(hostIn)])];
  const named = texts.flatMap(({ text }) => variableIn(text) ?? []);
  const rules: ReachRules = {
    allow: given.hosts.filter((host) => host !== '*'),
    deny: [],
    isNearDenied: true,
    isPrivateDenied: true,
    only: hosts,
    hint: 'Whoever uses the assistant names the hosts that it may ask, when gex mcp is started: --host and the host.',
  };
  return {
    hosts,
    variables: Object.fromEntries(
      [...given.variables, ...named].flatMap((name) => {
        const value = process.env[name];
        return value === undefined ? [] : [[name, value]];
      }),
    ),
    environment: { [REACH_VARIABLE]: JSON.stringify(rules) },
  };
}

/** Returns the secrets that stand in the configuration of a data folder, in plain or encrypted. */
export async function secretsOf(dataFolder: string): Promise<readonly string[]> {
  const document = await readConfig(dataFolder).then(
    ({ value }) => value,
    () => null,
  );
  const decrypt = await decryptorFor([document], {});
  const open = decrypt === undefined || !isObject(document) ? null : openSecrets(document, decrypt);
  return [...collectSecrets(document), ...collectSecrets(open)].filter(
    (text) => variableIn(text) === undefined,
  );
}

/** Returns the name of the variable that a value takes. */
export function variableIn(text: string): string | undefined {
  return /^\$env:(\w+)$/.exec(text)?.[1];
}

/** @throws {RunError} when no host was named */
export function requireHosts({ hosts }: Grants): void {
  if (hosts.length > 0) return;
  throw new RunError('command.invalid', 'No host was named that may be asked.', {
    hint: 'The user has to start gex mcp with --host and the host of the API, such as --host api.example.com.',
  });
}

interface PlacedText {
  readonly text: string;
  readonly keys: readonly string[];
}

function* textsOf(value: Json, keys: readonly string[] = []): Generator<PlacedText> {
  if (typeof value === 'string') yield { text: value, keys };
  else if (isList(value)) for (const item of value) yield* textsOf(item, keys);
  else if (isObject(value)) for (const [key, item] of entriesOf(value)) yield* textsOf(item, [...keys, key]);
}

/** Returns the host of an address of the API or of a job; a text elsewhere may be any data. */
function hostIn({ text, keys }: PlacedText): readonly string[] {
  if (!keys.includes('api') && keys.at(-1) !== 'endpoint') return [];
  if (!/^https?:\/\/[^/{}\s]+/i.test(text)) return [];
  const host = URL.parse(text)?.hostname.replace(/^\[|\]$/g, '');
  return host === undefined || host === '' ? [] : [host];
}
