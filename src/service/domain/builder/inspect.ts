import { validateConfig } from '../../../engine/config/index.ts';
import { decryptWith, type Keys, type Scope } from '../../../lib/encryption/index.ts';
import type { ConfigurationProblem } from '../../../storage/protocol/workshop.ts';

/** So many are more than anyone reads, and a text of 4 MB can have as many as it has keys. */
const MOST = 500;

/**
 * What `gex validate --json` tells of a text. Nothing of it is evaluated, and no message has the value of a secret.
 */
export async function inspect(text: string, keys: Keys, scope: Scope): Promise<ConfigurationProblem[]> {
  const problems = await validateConfig(text, {
    decrypt: decryptWith(keys, scope),
    env: {},
    isElsewhere: true,
  });
  return problems.slice(0, MOST).map((problem) => ({ ...problem }));
}
