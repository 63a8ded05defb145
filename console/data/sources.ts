import { shownText } from '../../src/lib/shown-text.ts';
import { at, partsOf } from '../route/router.ts';
import { client, type RunsQuery } from './client.ts';
import { useQuery } from './query.ts';
import { maySee } from './session.ts';

/** The runs of sources whose last run to an end was bad; one that waits since hides nothing. */
export const FAILING: RunsQuery = { isLast: true, isBad: true, status: ['success', 'error'] };

/** The component of sources that are made here. */
export const NEW_SOURCES = 'ex-generic-v2';

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

/** Returns the address of the runs of a configuration. */
export const runsOf = (component: string, configuration: string): string =>
  at`/runs?source=${keyOf(component, configuration)}`;

/** Returns the configuration that a key in an address means; undefined for a text that is no key. */
export function fromKey(
  key: string,
): { readonly component: string; readonly configuration: string } | undefined {
  const [component = '', configuration = '', ...more] = partsOf(key);
  return component === '' || configuration === '' || more.length > 0
    ? undefined
    : { component, configuration };
}

export function useSources() {
  return useQuery<readonly SourceRef[]>({
    key: ['sources', 'of-runs'],
    isEnabled: maySee(),
    load: async () =>
      (await client().configurationNames()).flatMap(({ component, configurations }) =>
        configurations.map(({ configuration, name }) => ({
          key: keyOf(component, configuration),
          component,
          configuration,
          // Options of a list show no signs that act, either.
          name: shownText(name === '' ? configuration : name),
        })),
      ),
    topic: 'configurations',
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
