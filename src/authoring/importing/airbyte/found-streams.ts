import { TemplateError } from './jinja/ast.ts';
import type { ManifestComponent } from './component.ts';
import { get, isMap, isSequence, shown, type ManifestNode, type NodeMap } from './node.ts';

/** The key of a slice with what the API was asked for. */
const COMPONENT = 'component';

/** A field of what the API was asked for, in a template. */
const VALUE = /components_values(?:\.(?!get\b)(\w+)|\.get\(\s*['"](\w+)['"]\s*\)|\[\s*['"](\w+)['"]\s*\])/g;

/** A value of the slice that the API was asked with. */
const SLICE =
  /\bstream_(?:slice|partition)(?:\.(?!get\b|extra_fields\b)(\w+)|\[\s*['"](?!extra_fields)(\w+)['"]\s*\])/g;

/** Parts of a stream that choose no rows, and ask for none. */
const ASIDE: ReadonlySet<string> = new Set(['name', 'schema_loader', 'primary_key', 'incremental_sync']);

/** A place of the template, with what is put there. */
interface Put {
  readonly keys: readonly string[];
  readonly value: ManifestNode;
}

/**
 * Returns one stream with the rows of all streams that are made of a template and of what the API is asked for: a child
 * of that, which is asked for with each of its rows.
 *
 * @param fill puts values into the template
 * @throws {TemplateError} for a template whose values are known only while it runs
 */
export function foundStreams(
  template: NodeMap,
  resolver: ManifestComponent,
  name: string,
  fill: (template: NodeMap, puts: readonly Put[]) => NodeMap,
): NodeMap {
  const retriever = resolver.get('retriever');
  const mappings = resolver
    .children('components_mapping')
    .map((mapping) => ({ mapping, keys: keysOf(mapping.get('field_path')) }))
    .filter(({ keys }) => !ASIDE.has(keys[0] ?? ''));
  if (mappings.some(({ mapping }) => (mapping.text('condition') ?? '') !== ''))
    throw new TemplateError('streams that are found at run time, under a condition');
  const texts = mappings.map(({ mapping }) => mapping.text('value') ?? '');
  const fields = new Set(texts.flatMap((text) => [...text.matchAll(VALUE)].map(fieldOf)));
  const key = fields.has('id') ? 'id' : [...fields][0];
  const puts = mappings.map(({ mapping, keys }): Put => ({
    keys,
    value: ofSlice(mapping.text('value') ?? '', key),
  }));
  const filled = fill(template, puts);
  const own = get(filled, 'retriever');
  if (key === undefined || !isMap(retriever) || !isMap(own) || filled['type'] !== 'DeclarativeStream')
    throw new TemplateError('streams that are found at run time (HttpComponentsResolver)');
  if (own['partition_router'] !== undefined)
    throw new TemplateError('streams that are found at run time, with slices of their own');
  const asked = { type: 'DeclarativeStream', name: `${name} found`, retriever };
  const router = {
    type: 'SubstreamPartitionRouter',
    parent_stream_configs: [
      {
        type: 'ParentStreamConfig',
        stream: asked,
        parent_key: key,
        partition_field: COMPONENT,
        extra_fields: [...fields].filter((field) => field !== key).map((field) => [field]),
      },
    ],
  };
  const rest = Object.entries(filled).filter(([part]) => !ASIDE.has(part));
  return {
    ...Object.fromEntries(rest),
    name,
    retriever: { ...own, partition_router: router },
  };
}

function keysOf(path: ManifestNode | undefined): readonly string[] {
  return (isSequence(path) ? path : []).map(shown);
}

/** Returns the name that one of the forms of a reference has. */
function fieldOf([, ...forms]: readonly (string | undefined)[]): string {
  return forms.find((form) => form !== undefined) ?? '';
}

/** Returns a template of what was asked for as one of a slice of the child. */
function ofSlice(text: string, key: string | undefined): string {
  if (/\bextra_fields\b/.test(text))
    throw new TemplateError('streams that are found at run time, by further fields of a slice');
  const made = text
    .replaceAll(
      SLICE,
      (...found) => `stream_partition.parent_slice.${fieldOf(found.slice(0, 3) as string[])}`,
    )
    .replaceAll(VALUE, (...found) => {
      const field = fieldOf(found.slice(0, 4) as string[]);
      return field === key ? `stream_partition.${COMPONENT}` : `stream_slice.extra_fields['${field}']`;
    });
  if (made.includes('components_values'))
    throw new TemplateError('streams that are found at run time, by more than fields');
  return made;
}
