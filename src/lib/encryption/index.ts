export { decryptValue, decryptWith, encryptValue, type Decrypted } from './cipher.ts';
export { kindOfSecret, parseEncrypted } from './format.ts';
export { createKey, makeKeyFile, openServiceKeys, replaceFile } from './key-file.ts';
export { keysFrom, parseKeys, readKeyFile, type Key, type Keys } from './keys.ts';
export { hasEncrypted, openSecrets } from './open.ts';
export { scopeFrom, type Scope } from './scope.ts';
export {
  countPlain,
  hideSecrets,
  openText,
  sealText,
  type Sealed,
  type SealOptions,
  type SealProblem,
} from './seal.ts';
