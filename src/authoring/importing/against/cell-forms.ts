/** Returns a form of a cell that is the same for values that mean the same: a time in any zone, a decimal, a flag. */
export function looseForm(cell: string): string {
  return timeForm(cell) ?? decimalForm(cell) ?? cell;
}

const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(?: ?(Z|UTC|[+-]\d\d:?\d\d))?$/;

function timeForm(cell: string): string | undefined {
  const match = TIME.exec(cell);
  if (match === null) return undefined;
  const [, date = '', time = '', second = '00', part = '', zone = 'Z'] = match;
  const offset = zone === 'Z' || zone === 'UTC' ? 'Z' : zone.replace(/(\d\d):?(\d\d)$/, '$1:$2');
  const ms = Date.parse(`${date}T${time}:${second}${offset}`);
  if (Number.isNaN(ms)) return undefined;
  const fraction = part.replace(/0+$/, '');
  return `${new Date(ms).toISOString().slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`;
}

function decimalForm(cell: string): string | undefined {
  const match = /^(-?\d+)\.(\d+)$/.exec(cell);
  if (match === null) return undefined;
  const fraction = (match[2] ?? '').replace(/0+$/, '');
  return fraction === '' ? match[1] : `${match[1]}.${fraction}`;
}

/** Returns a name that is the same however its words are joined: `createdAt`, `created_at`, `created__at`. */
export function looseName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}
