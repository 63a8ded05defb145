/**
 * Percent-encodes bytes, or text in UTF-8, as forms do: `A-Z a-z 0-9 - _ .` stay, a space becomes `+` (`~ * ' ( ) !`
 * are encoded, unlike `encodeURIComponent`).
 */
export function urlencode(value: string | Uint8Array): string {
  let out = '';
  for (const byte of Buffer.from(value))
    out +=
      byte === 0x20
        ? '+'
        : UNRESERVED.has(byte)
          ? String.fromCharCode(byte)
          : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  return out;
}

const UNRESERVED = new Set(Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'));
