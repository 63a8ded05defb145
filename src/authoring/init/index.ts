export { discover, type Discovery } from './discover.ts';
export { findingOf } from './finding.ts';
export { selected, type FromDocument } from './openapi/configure.ts';
export type { RecordedRequest } from './requests.ts';
export { readContent, readSource, type ConfigurationSource as Source } from './source.ts';
export { targetOf } from './target.ts';
export { SecretStore } from './secret-store.ts';
export { findingLines, openPoints, type Line } from './words.ts';
