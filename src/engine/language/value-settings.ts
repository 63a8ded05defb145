import { ConfigError } from '../../lib/errors.ts';
import type { Invalid } from '../../lib/read-settings.ts';

/** A setting of the language that cannot be used, where no stage says how its errors are made. */
export const invalidSetting: Invalid = (at, message, hint) =>
  new ConfigError('config.invalid', message, { where: { path: at }, hint });
