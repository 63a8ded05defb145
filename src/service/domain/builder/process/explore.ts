import { withTypedJobs } from '../../../../authoring/typed-jobs.ts';
import { resolveSecrets } from '../../../../engine/config/index.ts';
import type { Env } from '../../../../lib/env.ts';
import { RunError } from '../../../../lib/errors.ts';
import type {
  DocumentSource,
  FromDocument,
  RecordedRequest,
  SecretStore,
} from '../../../../authoring/init/index.ts';
import { encodeExact } from '../../../../lib/json/index.ts';
import type { Secrets } from '../../../../lib/secrets.ts';
import type { AskedToExplore, Found, SentRequest } from '../builder-types.ts';
import { heldLogins } from './held-logins.ts';
import { cutJson, lengthsOf } from './cut-json.ts';

interface World {
  readonly env: Env;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
  readonly onStep: (text: string) => void;
  /** Told of each request before it goes out. */
  readonly onSent: (request: SentRequest) => void;
  /** Told of logins that were renewed, before they are used. */
  readonly onLogins: (logins: string) => void;
}

/**
 * Probes an API, as `gex init` does. The secrets that came with the address are in the configuration that was found,
 * and nowhere else.
 *
 * @throws {ExtractorError} with the cause and a hint
 */
export async function explore(asked: AskedToExplore, world: World): Promise<Found> {
  const { secrets } = world;
  const init = await import('../../../../authoring/init/index.ts');
  const { configurationFrom, discover, findingOf, readContent, readSource } = init;
  const { secretIn, selected, targetOf, tryLists, withLogin, SecretStore } = init;
  const { source, select } = asked;
  const sent: SentRequest[] = [];
  const onRequest = ({ method, url }: SentRequest): void => {
    const request = { method, url: secrets.redactUrl(url) };
    sent.push(request);
    world.onSent(request);
  };
  const vault = vaultOf(asked, new SecretStore(asked.environment ?? {}), secretIn);
  const read = isDocument(source) ? await readContent(source, 'The text') : readSource(source);
  if (read.kind === 'document') return ofDocument(await triedLists(read));
  const requests = read.kind === 'recorded' ? read.requests : [];
  const taken = read.kind === 'recorded' ? chosen(requests, select) : read;
  const target = targetOf(taken.command, { auth: asked.auth, headers: asked.headers ?? [] }, vault);
  for (const value of vault.values) secrets.add(value);
  refuseUnknown(vault.unset, asked);
  const [plain] = asked.environment === undefined ? [] : vault.missing;
  if (plain !== undefined)
    throw new RunError('command.invalid', `A secret is given in plain: the value for ${plain}.`, {
      hint: [`Write $env:${plain} in its place.`, NAMED_ONLY],
    });
  const found = await discover({
    target,
    environment: vault.environment,
    maxRequests: asked.maxRequests,
    env: world.env,
    secrets,
    signal: world.signal,
    onStep: world.onStep,
    ...(asked.held === undefined ? {} : { logins: heldLogins(asked.held, world.onLogins, world.env) }),
    onRequest,
  });
  if ('document' in found) return ofDocument(await triedLists(found));
  const { configuration: plainTexts, ...finding } = findingOf(found.list);
  const configuration = withTypedJobs(plainTexts);
  return {
    form: 'list',
    ...finding,
    answer: cutJson(found.list.answer, secrets),
    lengths: lengthsOf(found.list.answer),
    sent,
    choices: requests.map((each) => ({
      what: each.what,
      rows: each.place.rows.length,
      isTaken: each === taken,
    })),
    configuration: encodeExact(
      asked.environment === undefined ? resolveSecrets(configuration, vault.environment) : configuration,
    ),
  };

  /** Asks for each list of a document, where that is wanted. */
  async function triedLists({ described, document }: DocumentSource): Promise<FromDocument> {
    if (asked.tries !== true) return selected(document, select);
    const known = asked.auth === undefined ? described : withLogin(described, asked.auth, vault);
    for (const value of vault.values) secrets.add(value);
    const { variables } = known.login;
    refuseUnknown([...vault.unset, ...variables.filter((name) => !vault.environment[name])], asked);
    const attempts = await tryLists(known, {
      environment: vault.environment,
      maxRequests: asked.maxRequests,
      env: world.env,
      secrets,
      signal: world.signal,
      select,
      onStep: world.onStep,
      ...(asked.held === undefined ? {} : { logins: heldLogins(asked.held, world.onLogins, world.env) }),
      onRequest,
    });
    const tried = selected(configurationFrom(known, attempts), select);
    if (asked.environment !== undefined) return tried;
    const configured = resolveSecrets(tried.configuration, vault.environment);
    return { ...tried, configuration: configured, variables: [] };
  }
}

/** Returns a store with the secret of a login: only the pasted text counts, this process holds none for a user's API. */
function vaultOf(
  asked: AskedToExplore,
  vault: SecretStore,
  secretIn: (auth: string) => string | undefined,
): SecretStore {
  const typed =
    asked.auth === undefined || asked.environment !== undefined ? undefined : secretIn(asked.auth);
  // a password may begin with `$`; a name in capitals was copied from where there is such a variable
  if (typed !== undefined && !/^\$(?:env:)?\{?[A-Z][A-Z0-9_]*\}?$/.test(typed)) vault.takeTyped(typed);
  return vault;
}

/** @throws {RunError} `command.invalid` for secrets whose values are not known here */
function refuseUnknown(names: readonly string[], { environment }: AskedToExplore): void {
  if (names.length === 0) return;
  throw new RunError('command.invalid', `The value of $${names.join(' and $')} is not known here.`, {
    hint:
      environment === undefined ? 'Give the secret itself: it is encrypted before it is kept.' : NAMED_ONLY,
  });
}

const NAMED_ONLY =
  'A secret is the value of a variable, whose name is given with --variable when gex mcp is started.';

function ofDocument({ configuration, ...document }: FromDocument): Found {
  return { form: 'document', ...document, configuration: encodeExact(withTypedJobs(configuration)) };
}

/** Tells whether a text is neither an address nor a command. */
function isDocument(text: string): boolean {
  const bare = text.trim();
  return /^[[{]/.test(bare) || (/\n/.test(bare) && !/^(?:[$%>#]\s+)?curl(?:\.exe)?\s/i.test(bare));
}

/** Returns the request of that name, else the first that has it in its name. */
function chosen(requests: readonly RecordedRequest[], select = ''): RecordedRequest {
  const found =
    requests.find(({ what }) => what === select) ?? requests.find(({ what }) => what.includes(select));
  if (found !== undefined) return found;
  throw new RunError(
    'command.invalid',
    requests.length === 0
      ? 'No answer in the text is a list of rows.'
      : `No list in the text has “${select}” in its address.`,
    { hint: 'Record it with the network tab open while the page loads its data, and save it with contents.' },
  );
}
