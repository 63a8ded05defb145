/** Address of the object store, and how its buckets are named in addresses. */
export interface S3Address {
  /** Undefined: the store's own of the region. */
  readonly endpoint?: string;
  readonly forcePathStyle: boolean;
}

/**
 * Derives the address of the object store from a signed one, because the service gives bucket, key and region, but no
 * endpoint.
 *
 * | signed address | endpoint |
 * |---|---|
 * | `http://127.0.0.1:9000/files/exp-15/…` | `http://127.0.0.1:9000`, bucket in the path |
 * | `https://files.store.example.com/exp-15/…` | `https://store.example.com`, bucket in the host |
 * | `https://files.s3.us-east-1.amazonaws.com/…` | that of the region |
 *
 * @param given address by the user or the environment; it wins
 */
export function s3AddressOf(url: string, bucket: string, given: string | undefined): S3Address {
  if (given !== undefined && given !== '') return { endpoint: given, forcePathStyle: true };
  if (!URL.canParse(url)) return { forcePathStyle: false };
  const { protocol, host, hostname, origin, pathname } = new URL(url);
  if (/\.amazonaws\.com(?:\.cn)?$/.test(hostname)) return { forcePathStyle: bucket.includes('.') };
  if (host.startsWith(`${bucket}.`))
    return { endpoint: `${protocol}//${host.slice(bucket.length + 1)}`, forcePathStyle: false };
  const at = pathname.indexOf(`/${encodeURIComponent(bucket)}/`);
  return { endpoint: origin + (at > 0 ? pathname.slice(0, at) : ''), forcePathStyle: true };
}
