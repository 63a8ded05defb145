import { ConfigError } from '../../lib/errors.ts';
import type { Invalid } from '../../lib/read-settings.ts';

/** Makes the error of a setting of the language that cannot be used, where no stage provides its own errors. */
export const invalidSetting: Invalid = (at, message, hint) =>
  new ConfigError('config.invalid', message, { where: { path: at }, hint });
