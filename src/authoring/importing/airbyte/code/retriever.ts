import type { ManifestComponent } from '../component.ts';
import { constant } from '../jinja/ast.ts';
import type { TemplateScope } from '../scope.ts';
import { bySettings, refuseOthers } from './as-base.ts';
import type { CodeClass } from './component-code.ts';
import { CodeObject, parametersOf } from './code-object.ts';
import { OF_PART } from './builtins.ts';
import type { BaseClass, Decide } from './code-run.ts';
import { explore } from './explore.ts';
import type { CodeValue } from './values.ts';

/** The method that reads the pages of a slice. */
const READ = '_read_pages';

/** Arguments of this method, and what the class of the other tool gives for them. */
const ARGUMENTS: readonly CodeValue[] = ['records_generator_fn', 'stream_slice'].map((name) => ({
  kind: 'given',
  name,
}));
const PAGES: CodeValue = { kind: 'given', name: 'pages' };
/** Stands for any one of the records. */
const RECORD: CodeValue = { kind: 'given', name: 'a record' };

/** Parts of a retriever that its code reads. */
const PARTS: ReadonlySet<string> = new Set(['name', 'cursor', 'decoder']);

const BASE: BaseClass = {
  method: (_, name, { positional, named }) => {
    if (name === '__post_init__') return constant(null);
    if (name !== READ) return undefined;
    const given = [...positional, ...named.values()];
    return given.length === 2 && ARGUMENTS.every((each) => given.includes(each)) ? PAGES : undefined;
  },
  each: (list) => (list === PAGES ? [RECORD] : undefined),
  attribute: (_, name) => (PARTS.has(name) ? constant(null) : undefined),
};

/**
 * Checks that a retriever of Python reads what the one that it extends reads: it may only send a request again whose
 * answer broke off.
 *
 * @throws {CodeRefused} for code that reads anything else
 */
export function readsAsBase(type: CodeClass, retriever: ManifestComponent, scope: TemplateScope): true {
  refuseOthers(
    type,
    'SimpleRetriever',
    (name) => ['__post_init__', READ].includes(name) || (name.startsWith('_') && !PRIVATE.test(name)),
  );
  const ofSettings = bySettings(scope);
  // what it does with parts of one class or another must not matter
  explore((decide) => {
    checkPages(type, retriever, (when) =>
      when.kind === 'test' && when.name === OF_PART ? decide(when) : ofSettings(when),
    );
  });
  return true;
}

function checkPages(type: CodeClass, retriever: ManifestComponent, decide: Decide): void {
  const none = new Map<string, CodeValue>();
  const object = new CodeObject(type, retriever, BASE, decide);
  if (type.methods.has('__post_init__'))
    object.callMethod('__post_init__', { positional: [parametersOf(retriever)], named: none }, undefined);
  const method = type.methods.get(READ);
  if (method === undefined) return;
  const given = object.call(method, { positional: ARGUMENTS, named: none });
  const records = [...object.yielded.map(({ value }) => value), given].flatMap((value) =>
    value === PAGES ? [RECORD] : value.kind === 'items' ? value.values : [value],
  );
  const [only, ...more] = records.filter((value) => value.kind !== 'constant' || value.value !== null);
  if (only !== RECORD || more.length > 0) throw object.refused(method.node, 'other pages');
}

/** Private methods of the class of the other tool, in any of its versions. */
const PRIVATE =
  /^_(?:_\w*|extra_fields|extract_record|fetch_next_page|get_(?:initial_next_page_token|mapping|most_recent_record|request_options)|last_\w+|next_page_token|paginate|paginator_path|parse_(?:records|response)|read_(?:pages|single_page|records_or_split_request_window)|reassociate_with_original_slice|request_(?:headers|params|body_data|body_json)|to_partition_key|with_request_window_failure_message)$/;
