import { hostOf } from './address.ts';
import type { Authentication } from './draft.ts';
import type { JobTree } from './parent-rows.ts';
import type { StreamParts } from './stream-parts.ts';
import type { TranslatedJson } from './translate/position.ts';

/** Returns the host of a child that asks another one than its parent, where a function makes the address. */
export function trustedHost(
  parts: StreamParts,
  above: JobTree,
  endpoint: TranslatedJson,
  baseUrl: TranslatedJson,
  authentication: Authentication | undefined,
): readonly string[] {
  if (typeof endpoint === 'string' || authentication === undefined) return [];
  const { key, host } = hostOf(endpoint);
  const own = hostOf(baseUrl);
  const parents = hostOf(above.baseUrl).key;
  if (key === parents || own.key === parents) return [];
  const known = host ?? own.host;
  if (known !== undefined) return [known];
  parts.findings.not(
    parts.retriever.place('requester'),
    'No counterpart: a parent at another host, which is known only while it runs',
  );
  return [];
}

/** Reports a parent with another login, because a row of a configuration has only one. */
export function sameLogin(
  parts: StreamParts,
  above: JobTree,
  authentication: Authentication | undefined,
): void {
  if (JSON.stringify(above.authentication) !== JSON.stringify(authentication))
    parts.findings.not(
      parts.retriever.place('requester'),
      'No counterpart: a parent that is authenticated in another way',
    );
}
