import { client, type Run } from '../../data/client.ts';
import { useQuery } from '../../data/query.ts';
import { Link } from '../../route/link.tsx';
import { at } from '../../route/router.ts';
import { countText, plural } from '../../ui/values.tsx';

/** Runs that are looked at: the effect of older versions is not told. */
const RUNS = 200;

/** Result of the runs by a version of a source. */
export interface VersionEffect {
  readonly runs: number;
  readonly failed: number;
  /** The last whole run by it that succeeded, and the one by an earlier version before that. */
  readonly last: Run | undefined;
  readonly before: Run | undefined;
}

/** Returns what runs by each version gave, of the last runs. */
export function useVersionEffects(
  component: string,
  id: string,
  isEnabled: boolean,
): ReadonlyMap<number, VersionEffect> {
  const { data = [] } = useQuery({
    key: ['runs', 'list', 'by-version', component, id],
    load: async () => await client().runs.list({ component, configuration: id, limit: RUNS }),
    isEnabled,
    topic: 'runs',
  });
  return effectsOf(data);
}

/** @param runs the newest first */
export function effectsOf(runs: readonly Run[]): ReadonlyMap<number, VersionEffect> {
  const good = runs.filter(isWhole);
  const effects = new Map<number, VersionEffect>();
  for (const [version, ofVersion] of Map.groupBy(runs, ({ configurationVersion }) => configurationVersion)) {
    if (version === null) continue;
    const last = ofVersion.find(isWhole);
    effects.set(version, {
      runs: ofVersion.length,
      failed: ofVersion.filter(({ status }) => status === 'error').length,
      last,
      before:
        last &&
        good.find(
          (run) =>
            Number(run.id) < Number(last.id) &&
            run.configurationVersion !== null &&
            run.configurationVersion < version,
        ),
    });
  }
  return effects;
}

/** Tells whether a run gives all that its configuration asks for, so that its rows can be compared. */
const isWhole = ({ status, asked }: Run): boolean =>
  status === 'success' && asked.rows === undefined && asked.from === undefined;

/** Tells in a line what runs by a version gave, beside those before it. */
export function Effect({ effect }: { readonly effect: VersionEffect | undefined }) {
  if (effect === undefined) return <span class="muted small">No run by it</span>;
  const { runs, failed, last, before } = effect;
  const rows = last?.rowCount;
  const change = rows === undefined || before?.rowCount === undefined ? undefined : rows - before.rowCount;
  return (
    <span class="muted small">
      {plural(runs, 'run')} by it{failed > 0 && `, ${countText(failed)} of which failed`}
      {last !== undefined && rows !== undefined && (
        <>
          ; <Link to={at`/runs/${last.id}`}>the last</Link> gave {plural(rows, 'row')}
        </>
      )}
      {last !== undefined && before !== undefined && change !== undefined && (
        <>
          ,{' '}
          <Link to={at`/runs/${last.id}?tab=compare&with=${before.id}`}>
            {change === 0
              ? `as many as by version ${before.configurationVersion}`
              : `${countText(Math.abs(change))} ${change > 0 ? 'more' : 'fewer'} than by version ${before.configurationVersion}`}
          </Link>
        </>
      )}
    </span>
  );
}
