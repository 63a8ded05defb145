import { createRequire } from 'node:module';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }; // our own file

/** Sent where the configuration sets no `User-Agent`. */
export const USER_AGENT = `generic-extractor/${version}`;
