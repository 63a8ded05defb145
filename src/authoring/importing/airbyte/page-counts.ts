import { TemplateError, constant, type Expression } from './jinja/ast.ts';
import { fold } from './jinja/fold.ts';
import { mapParts } from './jinja/map-parts.ts';
import { isMap } from './node.ts';
import { TOKEN, type TokenPlace } from './page-token.ts';
import { responsePosition, type TemplateScope } from './scope.ts';
import { call } from './translate/out.ts';
import type { TranslatedJson } from './translate/position.ts';
import { valueOf } from './translate/value.ts';

/** A number of a page, or of rows before it, that is sent with something around it, or in several places. */
export interface PageCount {
  /** The number of the next page. */
  readonly next: TranslatedJson;
  /** The number in the first request; absent where it has none. */
  readonly first?: number;
  /** Rows of a page; a page with fewer is the last one. */
  readonly size: TranslatedJson | undefined;
}

/** Returns the pagination that sends a count, and the values of its places in the first request. */
export function countedPages(
  places: readonly TokenPlace[],
  { next, first, size }: PageCount,
  scope: TemplateScope,
): {
  readonly pagination: Readonly<Record<string, TranslatedJson>>;
  readonly constants: readonly { readonly place: TranslatedJson; readonly value: TranslatedJson }[];
} {
  const stopWhen = { value: { answer: 'rows' }, is: 'below', than: size ?? 1 };
  if (places.some(({ place }) => isMap(place) && place['address'] === true)) {
    if (places.length > 1) throw new TemplateError('a number of a page as an address and as something else');
    if (first !== undefined && first !== 0)
      throw new TemplateError('a number of a page as the address of the first one');
    scope.findings.note(
      'From the second page on, the number of the page stands in the place of the path, as in the other tool; an API may not know that address.',
    );
    const pagination = {
      method: 'response.url',
      urlKey: call('concat', next),
      includeParams: true,
      stopWhen,
    };
    return { pagination, constants: [] };
  }
  const position = responsePosition(scope);
  const sent = (use: TokenPlace): TranslatedJson =>
    use.with === undefined
      ? next
      : valueOf(use.with, {
          text: position.text,
          reference: (name, keys) =>
            name === TOKEN && keys.length === 0
              ? { out: next, type: 'number' }
              : position.reference(name, keys),
        }).out;
  const firstOf = (use: TokenPlace): TranslatedJson =>
    use.with === undefined ? (first ?? null) : valueOf(withCount(use.with, first ?? 0), position).out;
  return {
    pagination: {
      method: 'response.param',
      set: places.map((use) => ({ from: sent(use), to: use.place })),
      includeParams: true,
      stopWhen,
    },
    constants: first === undefined ? [] : places.map((use) => ({ place: use.place, value: firstOf(use) })),
  };
}

/** Returns the expression with a count in place of the token, worked out as far as it goes. */
function withCount(expression: Expression, count: number): Expression {
  const put = (part: Expression): Expression =>
    part.kind === 'name' && part.name === TOKEN ? constant(count) : mapParts(part, put);
  return fold(put(expression), new Map());
}
