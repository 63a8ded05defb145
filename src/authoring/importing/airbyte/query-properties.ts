import { TemplateError } from './jinja/ast.ts';
import { ManifestComponent } from './component.ts';
import { isMap, isSequence, shown } from './node.ts';
import { MOST_IN_GROUP, type ParentPartition } from './partitions.ts';
import type { TemplateScope } from './scope.ts';
import { call } from './translate/out.ts';
import type { TranslatedJson } from './translate/position.ts';

/** The name of the properties among the parts of a slice. */
export const QUERY_PROPERTIES = 'query_properties';

/**
 * Returns the request for the properties that a stream asks for, as a parent whose rows all go into one request;
 * undefined where there is none.
 */
export function propertiesParent(
  requester: ManifestComponent,
  scope: TemplateScope,
): ParentPartition | undefined {
  const definitions = [
    ...requester.children(QUERY_PROPERTIES),
    ...Object.keys(mapIn(requester)).flatMap((name) => {
      const item = requester.childOf('request_parameters', name);
      return item?.type === 'QueryProperties' ? [item] : [];
    }),
  ];
  const [definition, ...others] = definitions;
  const list = definition?.child('property_list');
  if (definition === undefined || list === undefined) return undefined;
  return scope.findings.attempt(definition.at, definition.type, () => {
    if (others.length > 0) throw new TemplateError('several lists of properties');
    const retriever = list.child('retriever');
    if (retriever === undefined || list.className !== undefined)
      throw new TemplateError(`properties from ${list.className ?? list.type}`);
    refuseSelector(definition);
    const { type, limit } = chunksOf(definition);
    if (limit !== undefined && type !== 'characters')
      throw new TemplateError('properties of which a request takes only some, and whose number is not known');
    if (limit !== undefined)
      scope.findings.column(
        `all properties are asked for in one request, also where their names have more than ${limit} characters`,
      );
    const at = list.place('retriever');
    return {
      stream: new ManifestComponent(
        { type: 'DeclarativeStream', name: 'properties', retriever: retriever.node },
        at.slice(0, at.lastIndexOf('.')),
        undefined,
        list.uses,
      ),
      parentKey: list.keys('property_field_path').map(String).join('/'),
      name: QUERY_PROPERTIES,
      extraFields: [],
      keepsState: false,
      group: MOST_IN_GROUP,
    };
  });
}

/**
 * Returns the value of a parameter with properties.
 *
 * @throws {TemplateError} for properties that go into several requests, whose rows are merged
 */
export function propertiesOut(definition: ManifestComponent, scope: TemplateScope): TranslatedJson {
  refuseSelector(definition);
  const always = definition.keys('always_include_properties').map(String);
  const list = definition.get('property_list');
  const { isChunked, type, limit } = chunksOf(definition);
  if (isSequence(list)) {
    const all = list.map(shown);
    const sizes = all.map((name) => (type === 'characters' ? name.length + 3 : 1));
    const size = sizes.reduce((sum, one) => sum + one, 0);
    if (limit !== undefined && size > limit)
      throw new TemplateError('properties in several requests, whose rows are merged');
    return (isChunked && limit === undefined ? [...all, ...always] : [...always, ...all]).join(',');
  }
  const found = scope.slots.get(QUERY_PROPERTIES)?.out;
  if (found === undefined) throw new TemplateError('properties that are not known');
  if (always.length === 0) return found;
  const more = always.join(',');
  return isChunked && limit === undefined
    ? call('concat', found, `,${more}`)
    : call('concat', `${more},`, found);
}

function refuseSelector(definition: ManifestComponent): void {
  if (definition.get('property_selector') !== undefined)
    throw new TemplateError('properties that the columns of the destination choose');
}

interface Chunks {
  readonly isChunked: boolean;
  readonly type: string | undefined;
  readonly limit: number | undefined;
}

function chunksOf(definition: ManifestComponent): Chunks {
  const chunking = definition.child('property_chunking');
  const limit = Number(chunking?.get('property_limit') ?? 0);
  return {
    isChunked: chunking !== undefined,
    type: chunking?.text('property_limit_type'),
    limit: limit > 0 ? limit : undefined,
  };
}

function mapIn(requester: ManifestComponent): object {
  const parameters = requester.get('request_parameters');
  return isMap(parameters) ? parameters : {};
}
