import { getKey, isList, isObject, type Json } from '../../lib/json/value.ts';
import type { Component } from '../protocol/index.ts';
import type { ConfigurationBriefs, ConfigurationNames } from '../protocol/configuration-brief.ts';
import { listOf, shaped } from './shape.ts';

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

/** The answer of `GET configurations/names`. */
export function configurationNamesOf(json: Json | undefined): ConfigurationNames {
  return listOf<ConfigurationNames[number]>(json, 'component', {
    component: 'id',
    componentName: 'string',
    configurations: 'list',
  });
}
