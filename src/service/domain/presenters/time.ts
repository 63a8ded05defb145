/** Converts ISO 8601 text in UTC to the form of the API, `2017-02-14T10:34:45+0000`. */
export function apiTime(iso: string): string;
export function apiTime(iso: string | null): string | null;
export function apiTime(iso: string | null): string | null {
  return iso === null ? null : `${iso.slice(0, 19)}+0000`;
}
