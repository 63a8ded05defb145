/**
 * The library: the same engine that the command runs.
 *
 * ```ts
 * import { run } from 'generic-extractor';
 *
 * const { rows } = await run({ dataFolder: 'my-api', log: console });
 * for (const { tables } of rows) for (const { name, rows: count } of tables) console.log(name, count);
 * ```
 *
 * `run` runs a data folder as `gex run --storage none` does, and pushes nothing; with `storage: 'my-api/storage'` it
 * pushes as `gex run` does. `extract` runs one component configuration that is at hand.
 * Pagination methods and kinds of authentication are values: add yours to the lists.
 *
 * ```ts
 * import { PAGINATION_METHODS, run, silentLog, type PaginationMethod } from 'generic-extractor';
 *
 * const byWeek: PaginationMethod = { method: 'by.week', options: { … }, create: (options, job) => ({ … }) };
 * await run({ dataFolder: 'my-api', log: silentLog, methods: [...PAGINATION_METHODS, byWeek] });
 * ```
 *
 * @module
 */

// One run: a component configuration becomes tables
export {
  extract,
  type ExtractOptions,
  type ExtractResult,
  type WrittenTable,
} from './engine/extract/extract.ts';
export {
  firstRequests,
  type ChildPreview,
  type JobPreview,
  type PreviewOptions,
  type ShownRequest,
} from './engine/extract/preview.ts';
export { reasonText, type Reason, type ReasonCode } from './engine/shared/stop-reason.ts';
export type { EndEvent, PageEvent, Progress } from './engine/extract/progress.ts';
export {
  doubtText,
  proofText,
  type Doubt,
  type DoubtCode,
  type DoubtfulRun,
  type JobReport,
  type Proof,
  type Verdict,
} from './engine/completeness/index.ts';

// A data folder: rows, states, lock
export { run, type RunOptions } from './service/open/run.ts';
export type { RowResult, RunProgress, RunResult } from './runner/run.ts';
export { previewRun, type PreviewRunOptions, type RowPreview } from './runner/preview.ts';
export { noStorage, type Storage } from './runner/storage.ts';
export {
  openTarget,
  type BranchPlace,
  type RunTarget,
  type TargetOptions,
} from './service/open/open-target.ts';
export { openStorage, type OpenOptions, type OpenStorage, type TokenInfo } from './service/open/index.ts';
export type { RowFolder } from './runner/row-folder.ts';
export { component, type ComponentOptions } from './cli/container.ts';

// Configurations
export {
  collectSecrets,
  mergeConfigurations,
  parseConfig,
  planRows,
  readConfig,
  readResource,
  resolveSecrets,
  validateConfig,
  type ConfigDocument,
  type ConfigResource,
  type ConfigRow,
  type Problem,
  type RowPlan,
  type RowRun,
  type Severity,
  type ValidateOptions,
} from './engine/config/index.ts';

// Sync actions and recorded examples
export { ACTION_NAMES, actionError, runAction, type ActionOptions } from './authoring/actions/actions.ts';
export {
  runFixtures,
  type FixtureReport,
  type FixtureResult,
  type RunFixturesOptions,
} from './authoring/testing/index.ts';

// Extension points for users of the library
export {
  createPaginator,
  PAGINATION_METHODS,
  type FirstStep,
  type IdRange,
  type MethodContext,
  type Needs,
  type Observation,
  type PaginatedJob,
  type PaginationMethod,
  type Paginator,
  type PaginatorContext,
  type PaginatorState,
  type ParseTime,
  type Step,
} from './engine/pagination/index.ts';
export {
  AUTH_TYPES,
  type AuthContext,
  type AuthType,
  type AuthTypeContext,
  type AuthorizationCode,
  type AuthorizationRequest,
  type ExchangedLogin,
  type KeptLogin,
  type LoginKeeper,
  type PendingRefresh,
  type UserAuthorization,
  type Tokens,
} from './engine/http/auth/index.ts';
export type {
  ApiRequest,
  ApiResponse,
  Headers,
  JobRequest,
  Send,
  SendOptions,
  SendWrapper,
} from './engine/shared/message.ts';
export type { Contexts, Evaluate } from './engine/shared/evaluate.ts';
export type { OptionSchema } from './lib/option.ts';

// Encrypted values
export {
  decryptValue,
  encryptValue,
  keysFrom,
  openServiceKeys,
  openText,
  parseKeys,
  readKeyFile,
  sealText,
  type Decrypted,
  type Key,
  type Keys,
  type Scope,
  type Sealed,
  type SealOptions,
  type SealProblem,
} from './lib/encryption/index.ts';

// The world outside
export { systemEnv, type Env } from './lib/env.ts';
export { silentLog, type Log, type LogFields } from './lib/log.ts';
export { Secrets } from './lib/secrets.ts';

// Errors
export {
  ActionError,
  ConfigError,
  describeError,
  EncryptionError,
  ERROR_CODES,
  exitCodeOf,
  ExtractorError,
  FunctionError,
  HttpError,
  JobError,
  PaginationError,
  RecordError,
  RunError,
  SinkError,
  StorageError,
  type Audience,
  type ErrorCode,
  type ErrorOptions,
  type Recovery,
  type Where,
} from './lib/errors.ts';

// JSON, exact: numbers keep their literal, objects the order of their keys
export {
  compilePath,
  encodeExact,
  entriesOf,
  getKey,
  isList,
  isObject,
  JsonMap,
  JsonNumber,
  objectOf,
  parseExact,
  toText,
  type AnyObject,
  type Json,
  type JsonObject,
  type Path,
  type PathOptions,
} from './lib/json/index.ts';
