import { asObject } from '../../lib/read-settings.ts';
import { attributesOf } from '../../engine/jobs/attributes.ts';
import { entriesOf, getKey, objectOf, type AnyObject, type Json } from '../../lib/json/index.ts';

/** Parts of a configuration that may be unfinished: what is missing or of another kind is empty. */
export function parametersOf(configuration: AnyObject): AnyObject {
  return mapAt(configuration, 'parameters');
}

export function apiNode(configuration: AnyObject): AnyObject {
  return mapAt(parametersOf(configuration), 'api');
}

function configNode(configuration: AnyObject): AnyObject {
  return mapAt(parametersOf(configuration), 'config');
}

/** Returns the attributes: the context of `{"attr": …}`. */
export function attributes(configuration: AnyObject): AnyObject {
  return attributesOf(configNode(configuration));
}

/** Headers of every request, as written. */
export function commonHeaders(configuration: AnyObject): AnyObject {
  const [api, config] = [apiNode(configuration), configNode(configuration)].map((node) =>
    mapAt(mapAt(node, 'http'), 'headers'),
  );
  return objectOf([...entriesOf(api ?? {}), ...entriesOf(config ?? {})]);
}

function mapAt(node: AnyObject, key: string): AnyObject {
  const value: Json | undefined = getKey(node, key);
  return asObject(value) ?? {};
}
