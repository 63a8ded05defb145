import type { ManifestComponent } from './component.ts';
import type { ManifestFindings } from './findings.ts';
import type { TemplateScope } from './scope.ts';
import type { Reference } from './translate/position.ts';

/** A stream while it is read. */
export interface StreamParts {
  readonly stream: ManifestComponent;
  readonly retriever: ManifestComponent;
  readonly findings: ManifestFindings;
  /** Values that names in its templates stand for. */
  readonly slots: Map<string, Reference>;
  readonly scope: TemplateScope & { readonly sent: { lists: boolean } };
}
