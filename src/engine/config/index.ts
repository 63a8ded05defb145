export type { Problem, Severity } from './findings.ts';
export { mergeConfigurations } from './merge.ts';
export { pathText } from './path.ts';
export {
  documentOf,
  located,
  parseConfig,
  readConfig,
  resourceOf,
  type ConfigDocument,
} from './read-config.ts';
export { readResource, type ConfigResource, type ConfigRow } from './resource.ts';
export { planRows, type RowPlan, type RowRun } from './rows.ts';
export { collectSecrets, resolveSecrets } from './secrets.ts';
export { validateConfig, type ValidateOptions } from './validate.ts';
