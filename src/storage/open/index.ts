export { openStorage } from './open.ts';
export type { OpenOptions, OpenStorage, TokenInfo } from './options.ts';
