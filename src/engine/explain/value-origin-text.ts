import type { Lead } from './value-origin.ts';

/** Describes the origin of a part of a request, in words; paths stand between backticks. */
export function leadText(lead: Lead): string {
  switch (lead.how) {
    case 'link':
      return `the link in ${placeText(lead.from)}`;
    case 'value':
      return `${lead.to}=${short(lead.value)} from ${placeText(lead.from)}`;
    case 'id':
      return `${lead.to}=${short(lead.value)} by the ${lead.which} \`${lead.from}\``;
    case 'row':
      return `{${lead.to}}=${short(lead.value)} from \`${lead.from}\` of the row`;
    default:
      return `${lead.to}=${lead.value}, counted${lead.before === undefined ? '' : ` on from ${lead.before}`}`;
  }
}

function placeText(from: string): string {
  if (from.startsWith('header ')) return `the header ${from.slice(7)}`;
  // A source that describes itself in words is not quoted: a path begins otherwise.
  return /^the |[“”]| of the (?:first|last) row$/.test(from) ? from : `\`${from}\``;
}

const SHORT = 24;

function short(text: string): string {
  return text.length > SHORT ? `${text.slice(0, SHORT - 1)}…` : text;
}

/** Describes the origin of a request that follows from no answer. */
export function startText(page: number, step: string | undefined, isExport: boolean): string {
  if (page !== 1) return '';
  return step === 'create' || !isExport ? 'the configuration' : 'the export';
}
