import type { ReadFileBeside } from './code/component-code.ts';
import type { ManifestComponent } from './component.ts';
import { itself } from './mixed-fields.ts';
import { get, isMap, type ManifestNode } from './node.ts';
import type { TemplateScope } from './scope.ts';

/** The schema of the records of a stream. */
export interface StreamSchema {
  readonly schema: ManifestNode | undefined;
  /** Returns what a reference to another file of the schemas stands for; any other part as it is. */
  readonly resolved: (part: ManifestNode) => ManifestNode | undefined;
}

/** Reads the schema of a stream: from the manifest, or from the folder `schemas` beside it where that can be read. */
export function schemaOf(stream: ManifestComponent, scope: TemplateScope): StreamSchema {
  const [loader] = stream.children('schema_loader');
  const schema = loader?.get('schema');
  if (isMap(schema)) return { schema, resolved: itself };
  const { readBeside } = scope;
  // what has no type is a file, too
  const isFile = loader === undefined || ['', 'JsonFileSchemaLoader'].includes(loader.type);
  if (!isFile || readBeside === undefined) return { schema: undefined, resolved: itself };
  const whole = readSchema(readBeside, fileOf(stream, loader));
  return {
    schema: whole,
    resolved(part) {
      const reference = get(part, '$ref');
      if (typeof reference !== 'string') return part;
      const [file = '', inner = ''] = reference.split('#');
      const from = file === '' ? whole : readSchema(readBeside, `schemas/shared/${file}`);
      return inner
        .split('/')
        .filter((key) => key !== '')
        .reduce<ManifestNode | undefined>((node, key) => get(node, key), from);
    },
  };
}

/**
 * Returns where a file of a schema is, from the manifest: `./source_shop/schemas/orders.json` is beside it. A template in
 * it has the name of the stream, as in those of all connectors.
 */
function fileOf(stream: ManifestComponent, loader: ManifestComponent | undefined): string {
  const name = stream.text('name') ?? '';
  const given = (loader?.text('file_path') ?? '').replace(/\{\{.*?\}\}/, () => name);
  return /(?:^|\/)(schemas\/.+)$/.exec(given)?.[1] ?? `schemas/${name}.json`;
}

/** Returns what a file has; undefined for none, and for one that is no JSON. */
function readSchema(readBeside: ReadFileBeside, file: string): ManifestNode | undefined {
  if (file.split('/').includes('..')) return undefined;
  const text = readBeside(file);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as ManifestNode;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
