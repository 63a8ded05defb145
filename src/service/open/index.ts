export { openStorage } from './open.ts';
export type { OpenOptions, OpenStorage, TokenInfo } from '../../storage/client/open-options.ts';
