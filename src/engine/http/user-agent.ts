import { VERSION } from '../../lib/version.ts';

/** Sent where the configuration sets no `User-Agent`. */
export const USER_AGENT = `generic-extractor/${VERSION}`;
