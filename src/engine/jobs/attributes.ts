import { flattenContext, withoutKey, type AnyObject } from '../../lib/json/index.ts';

/**
 * Returns the context `attr` of functions: all of `config` but its jobs, nested keys joined by `.` (`server.port`,
 * `list.0`); empty maps vanish, and `#` stays in front of a key.
 */
export function attributesOf(config: AnyObject): AnyObject {
  return flattenContext(withoutKey(config, 'jobs'));
}
