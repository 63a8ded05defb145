import { shownText } from '../../src/lib/shown-text.ts';
import { client } from './client.ts';
import { useQuery } from './query.ts';

/** A configuration that may run. */
export interface SourceRef {
  /** As it stands in an address. */
  readonly key: string;
  readonly component: string;
  readonly configuration: string;
  readonly name: string;
}

export const keyOf = (component: string, configuration: string): string =>
  [component, configuration].map(encodeURIComponent).join('/');

export function useSources() {
  return useQuery<readonly SourceRef[]>({
    key: ['sources', 'of-runs'],
    load: async () =>
      (await client().usedComponents()).flatMap(({ id: component, configurations }) =>
        configurations.map(({ id, name }) => ({
          key: keyOf(component, id),
          component,
          configuration: id,
          // Options of a list show no signs that act, either.
          name: shownText(name === '' ? id : name),
        })),
      ),
  });
}

export function nameOf(
  sources: readonly SourceRef[] | undefined,
  component: string,
  configuration: string,
): string {
  const key = keyOf(component, configuration);
  return sources?.find((source) => source.key === key)?.name ?? shownText(configuration);
}
