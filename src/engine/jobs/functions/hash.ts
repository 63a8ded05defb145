import { createHash, createHmac, getHashes } from 'node:crypto';
import { meantOr } from '../../../lib/suggest.ts';
import { CallError } from './arguments.ts';
import { CHECKSUMS } from './checksums.ts';

/**
 * Computes the digest of the data by an algorithm name of PHP's `hash`, in any case: md5, sha1, sha224 to sha512,
 * sha512/256, sha3-*, ripemd160 if the runtime has it, and the checksums crc32, crc32b, crc32c, adler32, fnv*, joaat.
 *
 * @throws {CallError} for an unknown name
 */
export function digest(algorithm: string, data: Uint8Array): Uint8Array {
  const name = algorithm.toLowerCase();
  if (Object.hasOwn(CHECKSUMS, name)) return CHECKSUMS[name]?.(data) ?? unknownAlgorithm(algorithm);
  return createHash(runtimeName(name)).update(data).digest();
}

/** Computes a keyed digest (RFC 2104). Checksums cannot be keyed. */
export function hmac(algorithm: string, data: Uint8Array, key: Uint8Array): Uint8Array {
  const name = algorithm.toLowerCase();
  if (Object.hasOwn(CHECKSUMS, name))
    throw new CallError(`${name} is a checksum and cannot be keyed`, 'Take a digest such as sha256.');
  return createHmac(runtimeName(name), key).update(data).digest();
}

/** PHP's name → the runtime's name, where the two differ. */
const DIGESTS: Readonly<Record<string, string>> = {
  md4: 'md4',
  md5: 'md5',
  sha1: 'sha1',
  sha224: 'sha224',
  sha256: 'sha256',
  sha384: 'sha384',
  sha512: 'sha512',
  'sha512/224': 'sha512-224',
  'sha512/256': 'sha512-256',
  'sha3-224': 'sha3-224',
  'sha3-256': 'sha3-256',
  'sha3-384': 'sha3-384',
  'sha3-512': 'sha3-512',
  ripemd160: 'ripemd160',
  whirlpool: 'whirlpool',
};

function runtimeName(name: string): string {
  const known = Object.hasOwn(DIGESTS, name) ? DIGESTS[name] : undefined;
  if (known === undefined) return unknownAlgorithm(name);
  if (!getHashes().includes(known))
    throw new CallError(`the hash algorithm ${name} is not part of this runtime`, 'Take one such as sha256.');
  return known;
}

/** Throws the error of an unknown algorithm without its name: if arguments were swapped, that is a key. */
function unknownAlgorithm(name: string): never {
  const known = [...Object.keys(DIGESTS), ...Object.keys(CHECKSUMS)];
  throw new CallError(
    'the first argument is no known hash algorithm',
    meantOr(name, known, 'Known are md5, sha1, sha256, sha512, sha3-256, crc32b and others.'),
  );
}
