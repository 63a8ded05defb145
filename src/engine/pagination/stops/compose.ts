import { objectOf, type Json } from '../../../lib/json/index.ts';
import { needsOf } from '../../language/index.ts';
import type { Reason } from '../../shared/stop-reason.ts';
import type { Needs, Observation, Paginator, Step } from '../paginator.ts';
import { stateOf } from '../state.ts';

/** Ends a job before its method would. Pure, as a paginator is. */
export interface StopRule {
  /** Key of its state beside the method's. */
  readonly key: string;
  readonly needs: Needs;
  /** Its state before the first page; absent when it keeps none. */
  readonly start?: (now: number) => Json;
  /**
   * Checks a page.
   *
   * @returns why to stop, or the state after this page (null when it keeps none)
   */
  check(observation: Observation, state: Json): { readonly stop: Reason } | { readonly state: Json };
  /**
   * Returns how many requests from here on the rule allows, if it is a budget: none is made beyond it.
   *
   * @param size rows that a page is asked for, when they are known
   */
  ahead?(state: Json, size: number | undefined): number;
}

/**
 * Wraps a paginator in stop rules. The rules are checked in order, then the method; the first to stop wins. States
 * stand side by side: `{ "method": …, "limit": 20 }`. The observation is split, so that each part sees its own values.
 *
 * A planned step keeps the states of the rules as they are: they advance only with observed pages.
 */
export function withStops(paginator: Paginator, rules: readonly StopRule[]): Paginator {
  if (rules.length === 0) return paginator;
  const counting = rules.filter((rule) => rule.start !== undefined);
  const { slices, needs } = joinNeeds([paginator.needs, ...rules.map((rule) => rule.needs)]);
  const pack = (method: Json, states: ReadonlyMap<string, Json>): Json =>
    counting.length === 0 ? method : objectOf([['method', method], ...states]);
  const methodState = (state: Json): Json => (counting.length === 0 ? state : stateOf(state, 'method'));
  const ruleState = (rule: StopRule, state: Json): Json =>
    rule.start === undefined ? null : stateOf(state, rule.key);
  const { plan } = paginator;

  return {
    needs,
    ...(paginator.traits === undefined ? {} : { traits: paginator.traits }),
    ahead: (state) =>
      Math.min(
        paginator.ahead?.(methodState(state)) ?? Infinity,
        ...rules.map((rule) => rule.ahead?.(ruleState(rule, state), paginator.traits?.size) ?? Infinity),
      ),
    first(now) {
      const { request, state } = paginator.first(now);
      return {
        request,
        state: pack(state, new Map(counting.map((rule) => [rule.key, rule.start?.(now) ?? null]))),
      };
    },
    next(observation, state): Step {
      const states = new Map<string, Json>();
      for (const [i, rule] of rules.entries()) {
        const answer = rule.check(sliceOf(observation, slices[i + 1]), ruleState(rule, state));
        if ('stop' in answer) return answer;
        if (rule.start !== undefined) states.set(rule.key, answer.state);
      }
      const step = paginator.next(sliceOf(observation, slices[0]), methodState(state));
      return 'stop' in step ? step : { ...step, state: pack(step.state, states) };
    },
    ...(plan === undefined
      ? {}
      : {
          plan(state: Json) {
            const step = plan(methodState(state));
            const kept = counting.map((rule) => [rule.key, ruleState(rule, state)] as const);
            return { request: step.request, state: pack(step.state, new Map(kept)) };
          },
        }),
  };
}

type Needed = 'paths' | 'sources' | 'conditions';

interface Slice {
  readonly from: number;
  readonly to: number;
}

type Slices = Readonly<Record<Needed, Slice>>;

/** Joins the needs of all parts, and records which of the values belong to which part. */
function joinNeeds(parts: readonly Needs[]): { needs: Needs; slices: readonly Slices[] } {
  const paths = parts.flatMap((part) => part.paths ?? []);
  const sources = parts.flatMap((part) => part.sources ?? []);
  const conditions = parts.flatMap((part) => part.conditions ?? []);
  const expected = parts.flatMap((part) => part.expected ?? []);
  const own = parts.flatMap((part) => part.headers ?? []);
  const headers = [...new Set([...own, ...needsOf([...sources, ...conditions]).headers])];
  const ids = parts.find((part) => part.ids !== undefined)?.ids;
  const ends = { paths: 0, sources: 0, conditions: 0 };
  const slice = (part: Needs, list: Needed): Slice => {
    const from = ends[list];
    return { from, to: (ends[list] = from + (part[list]?.length ?? 0)) };
  };
  return {
    slices: parts.map((part) => ({
      paths: slice(part, 'paths'),
      sources: slice(part, 'sources'),
      conditions: slice(part, 'conditions'),
    })),
    needs: {
      ...(paths.length === 0 ? {} : { paths }),
      ...(sources.length === 0 ? {} : { sources }),
      ...(conditions.length === 0 ? {} : { conditions }),
      ...(expected.length === 0 ? {} : { expected }),
      ...(headers.length === 0 ? {} : { headers }),
      ...(ids === undefined ? {} : { ids }),
      ...(parts.some((part) => part.volume === true) ? { volume: true } : {}),
    },
  };
}

function sliceOf(observation: Observation, slices: Slices | undefined): Observation {
  const part = <T>(list: Needed, all: readonly T[]): readonly T[] =>
    all.slice(slices?.[list].from, slices?.[list].to ?? 0);
  const { values, read, met } = observation;
  return {
    ...observation,
    values: part('paths', values),
    read: part('sources', read),
    met: part('conditions', met),
  };
}
