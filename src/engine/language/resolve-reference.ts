const PARTS = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(?:#.*)?$/is;

/**
 * Resolves a reference against the URL of the page it came from (RFC 3986, 5.2), without changing a byte of the
 * reference itself: servers sign links, and a re-encoded one may no longer be valid. A whole URL stays as it is.
 */
export function resolveReference(reference: string, base: string): string {
  const [, scheme, authority, path = '', query = ''] = PARTS.exec(reference) ?? [];
  if (scheme !== undefined) return reference;
  const [, baseScheme = '', baseAuthority = '', basePath = '', baseQuery = ''] = PARTS.exec(base) ?? [];
  if (authority !== undefined) return `${baseScheme}://${authority}${withoutDots(path)}${query}`;
  const origin = `${baseScheme}://${baseAuthority}`;
  if (path === '') return origin + basePath + (query || baseQuery);
  if (path.startsWith('/')) return origin + withoutDots(path) + query;
  const folder = basePath.slice(0, basePath.lastIndexOf('/') + 1) || '/';
  return origin + withoutDots(folder + path) + query;
}

/** Removes the `.` and `..` segments of a path (RFC 3986, 5.2.4). */
function withoutDots(path: string): string {
  const segments = path.split('/');
  const out: string[] = [];
  for (const [i, segment] of segments.entries()) {
    const isLast = i === segments.length - 1;
    if (segment === '..' && out.length > 1) out.pop();
    if (segment !== '.' && segment !== '..') out.push(segment);
    else if (isLast) out.push('');
  }
  return out.join('/');
}
