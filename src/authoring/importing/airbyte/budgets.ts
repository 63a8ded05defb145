import { ManifestComponent } from './component.ts';
import { get, isMap, type ManifestNode, type NodeMap } from './node.ts';
import { durationWords } from './time-format.ts';

export interface Budgets {
  readonly list: readonly NodeMap[];
  readonly notes: readonly string[];
}

/** Calls in a stretch of time. They change the pace alone: what can't be said is a note. */
export function readBudgets(manifest: NodeMap): Budgets {
  const budget = get(manifest, 'api_budget');
  const list: NodeMap[] = [];
  const notes = new Set<string>();
  if (!isMap(budget)) return { list, notes: [] };
  for (const policy of new ManifestComponent(budget, 'api_budget').children('policies')) {
    const found = policyOf(policy);
    if (found === undefined)
      notes.add(`Not taken over: a budget of calls (${policy.at}). It changes the pace alone.`);
    else list.push(...found);
  }
  return { list, notes: [...notes] };
}

function policyOf(policy: ManifestComponent): readonly NodeMap[] | undefined {
  const matchers = policy.children('matchers');
  const paths = matchers.map((matcher) => matcher.text('url_path_pattern'));
  const isPathAlone = matchers.every((matcher) =>
    ['method', 'url_base', 'params', 'headers', 'weight'].every((key) => matcher.get(key) === undefined),
  );
  if (!isPathAlone || paths.length > 1 || paths.some((path) => path !== undefined && /[{]|\(\?/.test(path)))
    return undefined;
  const rates =
    policy.type === 'FixedWindowCallRatePolicy'
      ? [rateOf(policy.get('call_limit'), policy.text('period'))]
      : policy.type === 'MovingWindowCallRatePolicy'
        ? policy.children('rates').map((rate) => rateOf(rate.get('limit'), rate.text('interval')))
        : [undefined];
  const [path] = paths;
  return rates.every((rate) => rate !== undefined)
    ? rates.map((rate) => ({ ...rate, ...(path === undefined ? {} : { path }) }))
    : undefined;
}

function rateOf(limit: ManifestNode | undefined, period: string | undefined): NodeMap | undefined {
  const words = period === undefined ? undefined : durationWords(period);
  const calls = Number(limit);
  if (
    words === undefined ||
    !/^\d+ (?:second|minute|hour|day)s?$/.test(words) ||
    !Number.isInteger(calls) ||
    calls < 1
  )
    return undefined;
  return { calls, per: words };
}
