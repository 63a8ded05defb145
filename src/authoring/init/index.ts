export { discover, type Discovered, type Discovery } from './discover.ts';
export { findingOf } from './finding.ts';
export { tryLists } from './openapi/try-lists.ts';
export { configurationFrom, selected, withLogin, type FromDocument } from './openapi/configure.ts';
export type { RecordedRequest } from './requests.ts';
export {
  readContent,
  readSource,
  type DocumentSource,
  type ConfigurationSource as Source,
} from './source.ts';
export { secretIn } from './credentials.ts';
export { isOfPerson, targetOf } from './target.ts';
export { requestConfiguration } from './configure.ts';
export { SecretStore } from './secret-store.ts';
export { findingLines, openPoints, type Line } from './words.ts';
