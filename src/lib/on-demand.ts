import { createRequire } from 'node:module';
import type * as re2js from 're2js';
import type * as saxes from 'saxes';
import type * as yauzl from 'yauzl';

const require = createRequire(import.meta.url);

/**
 * Loaders of packages that most runs don't need, for code that cannot wait for an import. Each package is loaded at its
 * first use, so that no start pays for it. The types are those of the packages themselves.
 */
export const loadRe2 = (): typeof re2js => require('re2js') as typeof re2js;
export const loadSaxes = (): typeof saxes => require('saxes') as typeof saxes;
export const loadYauzl = (): typeof yauzl => require('yauzl') as typeof yauzl;
