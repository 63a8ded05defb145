/** What led to a request, in words: as `from` of an explanation has it. */
export function leadText(from: unknown): string {
  const leads: readonly unknown[] = Array.isArray(from) ? from : [];
  return leads.length === 0 ? 'the configuration' : leads.map(oneText).join('; ');
}

interface Lead {
  readonly how?: unknown;
  readonly from?: unknown;
  readonly to?: unknown;
  readonly value?: unknown;
  readonly which?: unknown;
}

function oneText(given: unknown): string {
  // Of the service; a kind that is not known here is told as it is.
  const { how, from, to, value, which } = (given ?? {}) as Lead;
  if (how === 'link') return `the link at ${String(from)}`;
  if (how === 'value') return `${String(to)}=${String(value)} from ${String(from)}`;
  if (how === 'count') return `${String(to)} counted on to ${String(value)}`;
  if (how === 'id') return `${String(to)}=${String(value)}, the ${String(which)} ${String(from)} so far`;
  if (how === 'row') return `${String(to)}=${String(value)} of the row above`;
  return typeof how === 'string' ? how : '';
}
