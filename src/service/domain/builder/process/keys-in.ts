import { parseKeys, type Keys } from '../../../../lib/encryption/index.ts';

/** Returns the keys of a task: those of a key file's text, or none where it is empty. */
export function keysIn(text: string): Keys {
  return text === '' ? [] : parseKeys(text, 'the service');
}
