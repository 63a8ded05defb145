import type { Lead } from './value-origin.ts';

/** What led to a part of a request, in words; places stand between backticks. */
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
  // a source that says in words what it is: a path begins otherwise
  return /^the |[“”]| of the (?:first|last) row$/.test(from) ? from : `\`${from}\``;
}

const SHORT = 24;

function short(text: string): string {
  return text.length > SHORT ? `${text.slice(0, SHORT - 1)}…` : text;
}

/** What led to a request that no answer led to. */
export function startText(page: number, step: string | undefined, isExport: boolean): string {
  if (page !== 1) return '';
  return step === 'create' || !isExport ? 'the configuration' : 'the export';
}
