import { validateConfig } from '../../../engine/config/index.ts';
import { decryptWith, type Keys, type Scope } from '../../../lib/encryption/index.ts';
import type { ConfigurationProblem } from '../../../storage/protocol/workshop.ts';

/** Most problems of a text: nobody reads more, and a text of 4 MB can have as many as it has keys. */
const MOST = 500;

/**
 * Returns the problems of a text as `gex validate --json` does. Nothing of it is evaluated, and no message has the
 * value of a secret.
 */
export async function inspect(
  text: string,
  keys: Keys,
  scope: Scope,
  environment: Readonly<Record<string, string>> = {},
): Promise<ConfigurationProblem[]> {
  const problems = await validateConfig(text, {
    decrypt: decryptWith(keys, scope),
    env: environment,
    isElsewhere: true,
  });
  return problems.slice(0, MOST).map((problem) => ({ ...problem }));
}
