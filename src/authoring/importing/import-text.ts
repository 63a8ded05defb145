import { RunError } from '../../lib/errors.ts';
import type { NodeMap } from './airbyte/node.ts';
import type { Imported } from './report.ts';

/** A text of another tool, and how it is called in the configuration and in the report. */
export interface ImportedText {
  readonly text: string;
  readonly file: string;
  readonly name: string;
  /** Settings of the connector. */
  readonly settings: NodeMap | undefined;
  /** Reads the files of a connector, such as those with its Python code, by their paths from the folder of its manifest. */
  readonly readBeside?: ((path: string) => string | undefined) | undefined;
}

/**
 * Makes a configuration from that of another tool.
 *
 * @throws {RunError} `command.invalid` for a tool that is not known, `import.invalid` for a text that cannot be read
 */
export async function importText(tool: string, { text, ...given }: ImportedText): Promise<Imported> {
  if (tool === 'airbyte') {
    const { importAirbyte } = await import('./airbyte/index.ts');
    return importAirbyte(text, given);
  }
  if (tool === 'dlt') {
    const { importDlt } = await import('./dlt/index.ts');
    return importDlt(text, given);
  }
  if (tool === 'singer') {
    const { importTap } = await import('./singer/index.ts');
    return importTap(text, given);
  }
  if (tool === 'n8n') {
    const { importWorkflow } = await import('./n8n/index.ts');
    return importWorkflow(text, given);
  }
  if (tool === 'curl') {
    const { importScript } = await import('./curl/index.ts');
    return importScript(text, { ...given, environment: process.env });
  }
  if (tool === 'postman' || tool === 'har') {
    const { importDocument } = await import('./documents/index.ts');
    return await importDocument(text, tool, { ...given, environment: process.env });
  }
  throw new RunError('command.invalid', `“${tool}” is nothing that can be imported.`, {
    hint: 'Known are: airbyte, dlt, singer, n8n, curl, postman, har.',
  });
}
