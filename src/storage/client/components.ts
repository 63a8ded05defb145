import { getKey, isList, isObject, type Json } from '../../lib/json/value.ts';
import type { Component, Configuration } from '../protocol/index.ts';
import type { ConfigurationBriefs } from '../protocol/configuration-brief.ts';
import { listOf, shaped } from './shape.ts';

/** A component that is in use. */
export interface UsedComponent extends Component {
  readonly configurations: readonly Configuration[];
}

/** The catalogue in the index of a service; a service may leave it out. */
export function componentsOf(index: Json | undefined): Component[] {
  const list = index !== undefined && isObject(index) ? getKey(index, 'components') : undefined;
  return listOf<Component>(list !== undefined && isList(list) ? list : [], 'component', { id: 'string' });
}

/** The answer of `GET configurations/brief`. */
export function configurationBriefsOf(json: Json | undefined): ConfigurationBriefs {
  return shaped<ConfigurationBriefs>(json, 'configuration briefs', {
    total: 'number',
    configurations: 'list',
  });
}

/** The answer of `GET components`: those that have configurations, with these. */
export function usedComponentsOf(json: Json | undefined): UsedComponent[] {
  return listOf<UsedComponent>(json, 'component', { id: 'string', name: 'string', configurations: 'list' });
}
