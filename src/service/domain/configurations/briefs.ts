import type {
  ConfigurationBrief,
  ConfigurationBriefs,
  ConfigurationBriefsQuery,
  ConfigurationNames,
} from '../../../storage/protocol/configuration-brief.ts';
import type { Meta } from '../../stores/metadata/database.ts';
import { lockKeyOf, newestRuns, type BriefRun } from '../../stores/metadata/runs.ts';
import { listNamed, type NamedSource } from '../../stores/metadata/source-states.ts';
import { apiTime } from '../presenters/time.ts';
import { hasWords } from '../has-words.ts';

const LIMIT = 100;

/**
 * Lists configurations page by page, with no more of each than lists show.
 *
 * @param components names of the components that the caller may use, by id
 */
export async function readConfigurationBriefs(
  meta: Meta,
  branchId: number,
  components: ReadonlyMap<string, string>,
  asked: ConfigurationBriefsQuery,
): Promise<ConfigurationBriefs> {
  const { component, search, sort = 'name', isReversed = false, limit = LIMIT, offset = 0 } = asked;
  const all = await listNamed(meta, branchId, [...components.keys()], asked.isDeleted);
  const isFound = hasWords(search);
  const found = all.filter(
    ({ component_id, configuration_id, name }) =>
      (component ?? component_id) === component_id && isFound(`${name} ${configuration_id} ${component_id}`),
  );
  const sorted = found.toSorted((a, b) => ORDERS[sort](a, b) || byName(a, b));
  const page = (isReversed ? sorted.toReversed() : sorted).slice(offset, offset + limit);
  const runs = await newestRuns(meta, page.map(lockKeyOf));
  return {
    all: all.length,
    total: found.length,
    configurations: page.map((named) => ({
      component: named.component_id,
      componentName: components.get(named.component_id) ?? named.component_id,
      configuration: named.configuration_id,
      name: named.name,
      isDisabled: named.is_disabled === 1,
      version: named.version,
      changedTime: apiTime(named.created),
      lastRun: lastOf(runs.get(lockKeyOf(named))),
    })),
  };
}

/**
 * Lists all configurations with nothing but their names, for choices and for lists of what is about them.
 *
 * @param components names of the components that the caller may use, by id
 */
export async function readConfigurationNames(
  meta: Meta,
  branchId: number,
  components: ReadonlyMap<string, string>,
): Promise<ConfigurationNames> {
  const all = (await listNamed(meta, branchId, [...components.keys()])).toSorted(byName);
  return [...Map.groupBy(all, ({ component_id }) => component_id)].map(([component, of]) => ({
    component,
    componentName: components.get(component) ?? component,
    configurations: of.map(({ configuration_id: configuration, name }) => ({ configuration, name })),
  }));
}

function lastOf(run: BriefRun | undefined): ConfigurationBrief['lastRun'] {
  if (run === undefined) return null;
  const { id, status, verdict, accepted } = run;
  return {
    id: String(id),
    status,
    verdict,
    isAccepted: accepted !== null,
    cancelTime: apiTime(run.cancel_asked),
    endTime: apiTime(run.ended),
  };
}

type Order = (a: NamedSource, b: NamedSource) => number;

const byName: Order = (a, b) =>
  a.name.localeCompare(b.name) ||
  (a.configuration_id === b.configuration_id
    ? byComponent(a, b)
    : byText(a.configuration_id, b.configuration_id));

const byComponent: Order = (a, b) => byText(a.component_id, b.component_id);

const byText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

const ORDERS: Readonly<Record<NonNullable<ConfigurationBriefsQuery['sort']>, Order>> = {
  name: byName,
  changed: (a, b) => byText(b.created, a.created),
  component: byComponent,
};
