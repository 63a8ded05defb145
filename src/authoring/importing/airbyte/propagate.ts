import { get, isMap, isSequence, mapOf, type ManifestNode, type NodeMap } from './node.ts';

/** Types of components without `type`, by their place. */
const TYPES: Readonly<Record<string, string>> = {
  'CompositeErrorHandler.error_handlers': 'DefaultErrorHandler',
  'CursorPagination.decoder': 'JsonDecoder',
  'DatetimeBasedCursor.end_datetime': 'MinMaxDatetime',
  'DatetimeBasedCursor.end_time_option': 'RequestOption',
  'DatetimeBasedCursor.start_datetime': 'MinMaxDatetime',
  'DatetimeBasedCursor.start_time_option': 'RequestOption',
  'DeclarativeSource.check': 'CheckStream',
  'DeclarativeSource.spec': 'Spec',
  'DeclarativeSource.streams': 'DeclarativeStream',
  'DeclarativeStream.retriever': 'SimpleRetriever',
  'DeclarativeStream.schema_loader': 'JsonFileSchemaLoader',
  'DynamicDeclarativeStream.stream_template': 'DeclarativeStream',
  'DynamicDeclarativeStream.components_resolver': 'ConfigComponentResolver',
  'HttpComponentsResolver.retriever': 'SimpleRetriever',
  'HttpComponentsResolver.components_mapping': 'ComponentMappingDefinition',
  'ConfigComponentsResolver.stream_config': 'StreamConfig',
  'ConfigComponentsResolver.components_mapping': 'ComponentMappingDefinition',
  'DefaultErrorHandler.response_filters': 'HttpResponseFilter',
  'DefaultPaginator.decoder': 'JsonDecoder',
  'DefaultPaginator.page_size_option': 'RequestOption',
  'DpathExtractor.decoder': 'JsonDecoder',
  'DpathExtractor.record_expander': 'RecordExpander',
  'HttpRequester.error_handler': 'DefaultErrorHandler',
  'ListPartitionRouter.request_option': 'RequestOption',
  'ParentStreamConfig.request_option': 'RequestOption',
  'ParentStreamConfig.stream': 'DeclarativeStream',
  'RecordExpander.parent_fields': 'ParentFieldPath',
  'RecordSelector.extractor': 'DpathExtractor',
  'RecordSelector.record_filter': 'RecordFilter',
  'SimpleRetriever.paginator': 'NoPagination',
  'SimpleRetriever.record_selector': 'RecordSelector',
  'SimpleRetriever.requester': 'HttpRequester',
  'SubstreamPartitionRouter.parent_stream_configs': 'ParentStreamConfig',
  'AddFields.fields': 'AddedFieldDefinition',
  'CustomPartitionRouter.parent_stream_configs': 'ParentStreamConfig',
  'DynamicSchemaLoader.retriever': 'SimpleRetriever',
  'SchemaTypeIdentifier.types_map': 'TypesMap',
};

/** The same for components with a class of their own. */
const CUSTOM_TYPES: Readonly<Record<string, string>> = {
  'CompositeErrorHandler.backoff_strategies': 'CustomBackoffStrategy',
  'DeclarativeStream.retriever': 'CustomRetriever',
  'DeclarativeStream.transformations': 'CustomTransformation',
  'DefaultErrorHandler.backoff_strategies': 'CustomBackoffStrategy',
  'DefaultPaginator.pagination_strategy': 'CustomPaginationStrategy',
  'HttpRequester.authenticator': 'CustomAuthenticator',
  'HttpRequester.error_handler': 'CustomErrorHandler',
  'RecordSelector.extractor': 'CustomRecordExtractor',
  'SimpleRetriever.partition_router': 'CustomPartitionRouter',
};

/**
 * Gives every component its type and its parameters: `$parameters` hold for a component and all below it, the inner
 * ones first, and each of them is also a key of every component that has no value of its own under it. What stands at
 * several places, and is given the same at each, is one object then, too.
 *
 * @param outerFirst whether parameters from above come before the component's own
 */
export function propagate(component: NodeMap, outerFirst = false): NodeMap {
  return new Propagation(outerFirst).of('', component, NONE);
}

const NONE: NodeMap = {};

/** A parent of a stream as it stands in the manifest, and the parameters from around it. */
export interface ParentOrigin {
  readonly definition: NodeMap;
  readonly parameters: NodeMap;
  readonly isOuterFirst: boolean;
}

const PARENT = 'ParentStreamConfig.stream';
const ORIGINS = new WeakMap<NodeMap, ParentOrigin>();

/** Returns what a parent was made of; undefined for any other component. */
export function originOf(parent: NodeMap): ParentOrigin | undefined {
  return ORIGINS.get(parent);
}

/** A component as it came out, with what it was given and its place. */
interface Made {
  readonly outer: NodeMap;
  readonly place: string;
  readonly made: NodeMap;
}

class Propagation {
  readonly #outerFirst: boolean;
  readonly #made = new Map<NodeMap, Made[]>();

  constructor(outerFirst: boolean) {
    this.#outerFirst = outerFirst;
  }

  /** @param place type of the component above and the key in it, such as `SimpleRetriever.requester` */
  of(place: string, component: NodeMap, outer: NodeMap): NodeMap {
    const all = this.#made.get(component) ?? [];
    const known = all.find((one) => one.outer === outer && one.place === place);
    const made = known?.made ?? this.#propagated(place, component, outer);
    if (known === undefined) {
      all.push({ outer, place, made });
      this.#made.set(component, all);
    }
    if (place === PARENT)
      ORIGINS.set(made, { definition: component, parameters: outer, isOuterFirst: this.#outerFirst });
    return made;
  }

  #propagated(place: string, component: NodeMap, outer: NodeMap): NodeMap {
    const type = typeOf(component, place);
    const parameters = this.#parameters(get(component, '$parameters'), outer);
    const { $parameters: _, ...filled }: Record<string, ManifestNode> = component;
    if (typeof type === 'string' && !Object.hasOwn(component, 'type')) filled['type'] = type;
    // a schema: its keys are those of JSON Schema
    if (type === 'object' || isMap(type) || isSequence(type)) return filled;
    if (typeof type !== 'string') return this.#inside(filled, place, parameters);
    for (const [key, value] of Object.entries(parameters)) {
      if (isNothing(filled[key])) filled[key] = value;
    }
    for (const [key, value] of Object.entries(filled)) {
      // schemas are large, and say nothing of requests and rows
      if (key === 'schema_loader') continue;
      if (isMap(value)) filled[key] = this.of(`${type}.${key}`, value, without(key, parameters));
      // most values are parameters, which have no components in them
      else if (isSequence(value) && value.some(isMap)) {
        const below = without(key, parameters);
        filled[key] = value.map((item) => (isMap(item) ? this.of(`${type}.${key}`, item, below) : item));
      }
    }
    if (parameters !== NONE) filled['$parameters'] = parameters;
    return filled;
  }

  /** Returns all parameters of a component: those from above as they are, where it has none of its own. */
  #parameters(own: ManifestNode | undefined, outer: NodeMap): NodeMap {
    if (!isMap(own) || Object.keys(own).length === 0) return outer;
    return this.#outerFirst ? { ...own, ...outer } : { ...outer, ...own };
  }

  /** Propagates parameters to the components inside a map that is none. */
  #inside(map: NodeMap, place: string, parameters: NodeMap): NodeMap {
    return mapOf(
      Object.entries(map).map(([key, value]): [string, ManifestNode] => [
        key,
        isMap(value) && !isNothing(get(value, 'type')) ? this.of(place, value, parameters) : value,
      ]),
    );
  }
}

/** Returns the parameters without one that is a key of this very component: it would go round in a circle. */
function without(key: string, parameters: NodeMap): NodeMap {
  if (!Object.hasOwn(parameters, key)) return parameters;
  const { [key]: _, ...others } = parameters;
  return Object.keys(others).length === 0 ? NONE : others;
}

function typeOf(component: NodeMap, place: string): ManifestNode | undefined {
  if (Object.hasOwn(component, 'type')) return component['type'];
  return Object.hasOwn(component, 'class_name') ? CUSTOM_TYPES[place] : TYPES[place];
}

/** Tells if a parameter takes the place of a value: nothing, 0, false and what is empty. */
function isNothing(node: ManifestNode | undefined): boolean {
  if (isSequence(node)) return node.length === 0;
  if (isMap(node)) return Object.keys(node).length === 0;
  return node === undefined || node === null || node === '' || node === 0 || node === false;
}
