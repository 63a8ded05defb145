import { useEffect, useState } from 'preact/hooks';
import type { ComponentProps } from 'preact';
import type { SchemaEditor } from './schema-editor.tsx';
import { ErrorBanner, Skeleton } from './states.tsx';

interface Parts {
  readonly Editor: typeof SchemaEditor;
  readonly schema: object | undefined;
}

/** Loads the editor at its first use: it is larger than everything else of the page, and so is the schema. */
async function load(hasSchema: boolean): Promise<Parts> {
  const [{ SchemaEditor: Editor }, schema] = await Promise.all([
    import('./schema-editor.tsx'),
    hasSchema ? import('../../schemas/config.schema.json') : undefined,
  ]);
  return { Editor, schema: schema?.default };
}

export function JsonEditor({
  hasSchema = false,
  ...props
}: Omit<ComponentProps<typeof SchemaEditor>, 'schema'> & { readonly hasSchema?: boolean }) {
  const [parts, setParts] = useState<Parts | undefined>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    load(hasSchema).then(setParts, setError);
  }, [hasSchema]);
  if (error !== undefined) return <ErrorBanner error={error} />;
  if (parts === undefined) return <Skeleton label="Loading the editor" />;
  const { Editor, schema } = parts;
  return <Editor {...props} schema={schema} />;
}
