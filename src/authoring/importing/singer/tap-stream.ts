import type { ManifestNode, NodeMap } from '../airbyte/node.ts';
import type { ImportReason } from '../report.ts';

/** A stream of the tap, while it is imported. */
export interface TapStream {
  /** Returns a setting: the stream's own, or that of the tap. */
  readonly setting: (key: string) => ManifestNode | undefined;
  readonly config: NodeMap;
  /** Place of the stream in the file. */
  readonly path: string;
  /** Place of the configuration in the file, with a dot at its end, or empty. */
  readonly at: string;
  /** Path of the address that all streams share. */
  readonly basePath: string;
  readonly params: Readonly<Record<string, string>>;
  readonly reasons: ImportReason[];
  readonly notes: string[];
}
