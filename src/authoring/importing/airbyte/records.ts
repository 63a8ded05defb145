import { TemplateError, type Expression } from './jinja/ast.ts';
import { literalOf, pythonText, tupleOf } from '../../../lib/python-literal.ts';
import { codeRows } from './code/record-extractor.ts';
import { keptRecords } from './code/record-filter.ts';
import { readCode } from './code/read-code.ts';
import { kindsOf, type SchemaKind } from './field-kinds.ts';
import { FieldNames } from './field-names.ts';
import { cutItems } from './cut-items.ts';
import { mixedFields, scalarOrJson, type MixedField } from './mixed-fields.ts';
import { fieldsWithFormat, normalizedFormats } from './code/normalization.ts';
import { CodeRefused } from './code/refused.ts';
import { changedFields, type ChangedFields } from './code/transformation.ts';
import type { ManifestComponent } from './component.ts';
import { isMap, isSequence, shown, type ManifestNode } from './node.ts';
import { outOf } from './request-object.ts';
import { schemaOf, type StreamSchema } from './stream-schema.ts';
import {
  known,
  recordPosition,
  translated,
  wanting,
  withSettings,
  noteFixed,
  type TemplateScope,
} from './scope.ts';
import { conditionOf } from './translate/condition.ts';
import { otherValues, readAgain, refuseOther } from './translate/field-value.ts';
import { comparedByType, strictFilter } from './translate/strict-filter.ts';
import { pathText, type TranslatedJson, type TemplatePosition, type Typed } from './translate/position.ts';
import { testOf } from './translate/test.ts';
import { mayFail } from './translate/type-errors.ts';
import { call, isField, readsRow, shownField, textOut } from './translate/out.ts';
import { valueOf } from './translate/value.ts';

/** The rows of a job, and what is made of them. */
export interface RecordsDraft {
  readonly dataField: TranslatedJson;
  readonly rowsAt?: TranslatedJson;
  readonly where?: TranslatedJson;
  /** The same as a function of a row; absent where there is none. */
  readonly isKept?: TranslatedJson;
  readonly columns: Readonly<Record<string, TranslatedJson>>;
  readonly exclude: readonly string[];
  readonly case?: 'lower' | 'snake';
  /** Values of the fields that were added, by their paths. */
  readonly added: ReadonlyMap<string, Typed>;
  /** Names that the fields have afterwards. */
  readonly names: FieldNames;
  /** Code of its own takes fields out, and puts others under names that are made while it runs. */
  readonly isRenamed: boolean;
  /** Code of its own reads the answer as XML. */
  readonly isXml: boolean;
  /** Tells whether code of its own, which is not taken over, changes a field. */
  isChanged(name: string): boolean;
  /** Tells whether a normaliser alone changes a field, and the schema does not say that it is no time. */
  isConvertedTime(name: string): boolean;
}

export function readRecords(
  stream: ManifestComponent,
  selector: ManifestComponent | undefined,
  scope: TemplateScope,
): RecordsDraft {
  const work = new Records(scope, schemaOf(stream, scope));
  const dataField = work.extractor(selector?.child('extractor'));
  if (selector?.className !== undefined)
    scope.findings.not(selector.at, `Python code: ${selector.className}`);
  const isAfter = isFilteredAfter(stream, selector);
  if (!isAfter) work.filter(selector?.child('record_filter'));
  for (const transformation of stream.children('transformations')) work.transform(transformation);
  if (isAfter) work.filter(selector?.child('record_filter'));
  work.normalize(selector, stream);
  work.keepMixed();
  return work.draft(dataField);
}

/** Tells if a filter sees what the transformations made: by default where old rows are left out by the other tool itself. */
function isFilteredAfter(stream: ManifestComponent, selector: ManifestComponent | undefined): boolean {
  const key = 'transform_before_filtering';
  if (selector?.get(key) !== undefined) return selector.flag(key);
  return stream.child('incremental_sync')?.flag('is_client_side_incremental') === true;
}

/** A condition on a field that code has changed, which is not taken over. */
class ChangedByCode extends TemplateError {}

class Records {
  readonly #scope: TemplateScope;
  readonly #columns = new Map<string, TranslatedJson>();
  readonly #added = new Map<string, Typed>();
  readonly #exclude: string[] = [];
  /** Paths of fields that templates see no more. */
  readonly #removed = new Set<string>();
  readonly #names = new FieldNames();
  #key: string | undefined;
  #isXml = false;
  #where: TranslatedJson | undefined;
  #isKept: TranslatedJson | undefined;
  #case: 'lower' | 'snake' | undefined;
  readonly #changed: ChangedFields[] = [];
  #normalizing: ChangedFields | undefined;
  /** Fields of the schema that are times; undefined where it is known only while it runs. */
  #times: ReadonlySet<string> | undefined;

  readonly #schema: StreamSchema;

  constructor(scope: TemplateScope, schema: StreamSchema) {
    this.#scope = scope;
    this.#schema = schema;
  }

  draft(dataField: TranslatedJson): RecordsDraft {
    return {
      dataField,
      ...(this.#key === undefined ? {} : { rowsAt: { form: 'values', key: this.#key } }),
      ...(this.#where === undefined ? {} : { where: this.#where }),
      ...(this.#isKept === undefined ? {} : { isKept: this.#isKept }),
      columns: Object.fromEntries(this.#columns),
      exclude: this.#exclude,
      ...(this.#case === undefined ? {} : { case: this.#case }),
      added: this.#added,
      names: this.#names,
      isXml: this.#isXml,
      isRenamed:
        this.#changed.some(({ isEmptied }) => isEmptied) && this.#changed.some(({ isMade }) => isMade),
      isChanged: (name) => this.#isChanged(name) || this.#isNormalized(name),
      isConvertedTime: (name) => !this.#isChanged(name) && this.#times?.has(name) !== false,
    };
  }

  #isChanged(name: string): boolean {
    return this.#changed.some(
      ({ names, isOpen, kept }) => (isOpen && kept?.has(name) !== true) || names.has(name),
    );
  }

  #isNormalized(name: string): boolean {
    return this.#normalizing !== undefined && (this.#normalizing.isOpen || this.#normalizing.names.has(name));
  }

  extractor(extractor: ManifestComponent | undefined): TranslatedJson {
    const { findings } = this.#scope;
    if (extractor === undefined) return '.';
    if (extractor.type === 'CombinedExtractor' && (extractor.text('mode') ?? 'union') === 'union') {
      if (extractor.flag('skip_empty_records'))
        findings.moreRows('Rows without a field are written; the other tool leaves them out.');
      const paths = extractor.children('extractors').map((inner) => this.extractor(inner));
      return paths.flatMap((path) => (isSequence(path) ? path : [path]));
    }
    if (extractor.className !== undefined) return this.#ofCode(extractor, extractor.className);
    if (extractor.type !== 'DpathExtractor') {
      findings.not(extractor.at, `No counterpart: the extractor ${extractor.type}`);
      return '.';
    }
    return (
      findings.attempt(extractor.place('field_path'), extractor.get('field_path'), () => {
        const keys = this.#keysOf(extractor, 'field_path');
        if (keys[0] === '*' || /^\d+$/.test(keys[0] ?? ''))
          findings.moreRows(
            'An answer that is a list has rows; the other tool looks for the path inside of each item, and finds none.',
          );
        return dataPath([...keys, ...this.#expanded(extractor)]);
      }) ?? '.'
    );
  }

  /** Takes the rows from where code finds them. */
  #ofCode(extractor: ManifestComponent, className: string): TranslatedJson {
    const { findings } = this.#scope;
    const rows = readCode(extractor, this.#scope, (type) => codeRows(type, extractor));
    if (rows === undefined) return '.';
    const { changed, inner, kept, key, made = new Map<string, Expression>(), orWhole, paths } = rows;
    this.#key = key;
    this.#isXml = rows.isXml === true;
    for (const [name, value] of made)
      findings.attemptColumn(name, undefined, () => {
        const typed = cellOf(valueOf(value, this.#position()));
        this.#added.set(name, typed);
        this.#columns.set(name, asSource(typed.out));
      });
    if (kept !== undefined)
      findings.attempt(extractor.at, className, () => {
        this.#keep(kept, extractor, className);
      });
    if (changed.names.size > 0 || changed.isOpen || changed.isMade) this.#isChangedBy(changed, className);
    if (inner?.orItem === true) {
      this.#names.add({ kind: 'lift', path: inner.keys, prefix: '', suffix: '', replaces: true });
      findings.column(liftedWords(inner.keys, true));
    }
    return (
      findings.attempt(extractor.at, className, () => {
        if (inner?.orItem === false) return dataPath([...(paths[0] ?? []), '*', ...inner.keys]);
        const [first = '.', ...more] = paths.map((keys) =>
          // lists in several places are gathered item by item
          dataPath(keys.includes('*') && key === undefined ? [...keys, '*'] : keys),
        );
        if (orWhole === undefined) return more.length === 0 ? first : [first, ...more];
        // the answer itself is a row, too, unless it has the list
        const list = { path: pathText([orWhole]) };
        this.#where = { value: list, is: 'absent' };
        this.#isKept = call('is', list, 'absent');
        findings.note('An answer without a list of rows is one row; the log warns of the missing list.');
        return [first, '.'];
      }) ?? '.'
    );
  }

  /** Items of a list in each record are the rows. */
  #expanded(extractor: ManifestComponent): readonly string[] {
    const expander = extractor.child('record_expander');
    if (expander === undefined) return [];
    const hasMore =
      ['remain_original_record', 'merge_parent'].some((key) => expander.flag(key)) ||
      expander.get('parent_fields') !== undefined;
    if (
      hasMore ||
      expander.text('on_no_records') === 'emit_parent' ||
      expander.get('truncated_list_retriever') !== undefined
    )
      throw new TemplateError('items of a list with fields of the record around it');
    return ['*', ...this.#keysOf(expander, 'expand_records_from_field').map(String), '*'];
  }

  #keysOf(component: ManifestComponent, key: string): readonly string[] {
    const value = component.get(key);
    const items = isSequence(value) ? value : value === undefined ? [] : [value];
    return items.map((item) => {
      const { out } = translated(item, component, this.#scope, {
        text: 'a path',
        reference: () => undefined,
      });
      if (typeof out === 'string' || typeof out === 'number') return String(out);
      throw new TemplateError('a key that is known only while it runs');
    });
  }

  filter(filter: ManifestComponent | undefined): void {
    if (filter === undefined) return;
    const { findings } = this.#scope;
    const { className } = filter;
    const template = className ?? filter.get('condition');
    if (template === undefined || template === '') return;
    const code =
      className === undefined
        ? undefined
        : readCode(filter, this.#scope, (type) => keptRecords(type, filter, this.#scope));
    if (className !== undefined && code === undefined) return;
    findings.attempt(className === undefined ? filter.place('condition') : filter.at, template, () => {
      try {
        this.#keep(code ?? filter.expression(template), filter, template);
      } catch (error) {
        if (!(error instanceof ChangedByCode)) throw error;
        findings.moreRows(
          `Rows that a filter leaves out are written: it looks at fields that Python code has changed by then (${shown(template)}).`,
        );
      }
    });
  }

  /** Keeps only the records on a condition. */
  #keep(given: Expression, component: ManifestComponent, template: ManifestNode): void {
    // None is what code has for a field that is missing
    const position = { ...this.#asItIs(), hasUndefined: component.className === undefined };
    let expression = given;
    let condition: TranslatedJson;
    try {
      condition = conditionOf(expression, position);
    } catch (error) {
      const fixed =
        error instanceof TemplateError ? withSettings(expression, component, this.#scope) : undefined;
      if (fixed === undefined)
        throw error instanceof TemplateError && !(error instanceof ChangedByCode)
          ? wanting(error, expression, this.#scope)
          : error;
      condition = conditionOf(fixed, position);
      expression = fixed;
      noteFixed(this.#scope, template);
    }
    if (condition === false) throw new TemplateError('a filter that keeps nothing');
    if (condition === true) return;
    const strict = component.className === undefined ? this.#strict(expression, position) : undefined;
    if (strict !== undefined) ({ expression, condition } = strict);
    const isKept = testOf(expression, (part) => valueOf(part, position), position.hasUndefined);
    this.#where = this.#where === undefined ? condition : { all: [this.#where, condition] };
    this.#isKept = this.#isKept === undefined ? isKept : call('all', this.#isKept, isKept);
  }

  /** Returns a condition as Python takes it, where that can be said. */
  #strict(
    given: Expression,
    position: TemplatePosition,
  ): { readonly expression: Expression; readonly condition: TranslatedJson } | undefined {
    const expression = strictFilter(given, position.kindsOf);
    if (expression === given) return undefined;
    try {
      const condition = conditionOf(expression, position);
      return typeof condition === 'boolean' ? undefined : { expression, condition };
    } catch (error) {
      if (error instanceof TemplateError) return undefined;
      throw error;
    }
  }

  transform(transformation: ManifestComponent): void {
    const { findings } = this.#scope;
    if (transformation.className !== undefined) {
      this.#code(transformation);
      return;
    }
    switch (transformation.type) {
      case 'AddFields':
        for (const field of transformation.children('fields')) this.#add(field, transformation);
        return;
      case 'RemoveFields':
        this.#remove(transformation);
        return;
      case 'KeysToLower':
        this.#names.add({ kind: 'unknown' });
        this.#case = 'lower';
        findings.column('names of fields inside of others are in small letters, too');
        return;
      case 'KeysToSnakeCase':
        this.#names.add({ kind: 'snake' });
        this.#case = 'snake';
        findings.column('names in snake case may differ where a name has digits or abbreviations in it');
        return;
      case 'KeysReplace':
        this.#replaceInNames(transformation);
        return;
      case 'FlattenFields':
        this.#names.add({ kind: 'unknown' });
        findings.column('fields inside of others have the names of those in front: “a_b”, and not “b”');
        return;
      case 'DpathFlattenFields':
        this.#lift(transformation);
        return;
      default:
        findings.not(transformation.at, `No counterpart: the transformation ${transformation.type}`);
    }
  }

  /** Returns the templates of a record as it is by now. */
  #position(): TemplatePosition {
    const seen = new Map<string, Typed>(this.#added);
    for (const name of this.#removed) seen.set(name, { out: null, type: 'any' });
    return {
      ...recordPosition(this.#scope, seen, this.#names),
      kindsOf: (keys) => this.#kindsOf(keys),
    };
  }

  /** Returns the templates of a record that see no field which code has changed. */
  #asItIs(): TemplatePosition {
    const position = this.#position();
    if (this.#changed.length === 0) return position;
    const refuse = (keys: readonly (string | number)[]): void => {
      const [field] = keys;
      const isOpen = field === undefined || this.#changed.some(({ isEmptied }) => isEmptied);
      if (isOpen || this.#isChanged(String(field)))
        throw new ChangedByCode('a filter of records whose fields Python code has changed by then');
    };
    return {
      ...position,
      reference: (name, keys) => {
        if (name === 'record') refuse(keys);
        return position.reference(name, keys);
      },
    };
  }

  /** Leaves a class out that changes fields of a record: its rows are the same ones. */
  #code(component: ManifestComponent): void {
    const { className = '' } = component;
    const changed = readCode(component, this.#scope, (type) => changedFields(type, component));
    if (changed !== undefined) this.#isChangedBy(changed, className);
  }

  #isChangedBy(changed: ChangedFields, className: string): void {
    this.#changed.push(changed);
    const names = [...changed.names].map((name) => `“${name}”`).join(', ');
    const isMore = changed.isOpen || changed.isEmptied || changed.isMade;
    const which = [names, ...(isMore ? ['fields that are known only while it runs'] : [])];
    this.#scope.findings.column(
      `${which.filter((part) => part !== '').join(' and ')} as the API has them: they are changed by the Python code ${className}`,
    );
  }

  normalize(selector: ManifestComponent | undefined, stream: ManifestComponent): void {
    const normalization = selector?.text('schema_normalization');
    if (selector?.has('schema_normalization') !== true || normalization === 'None') return;
    if (normalization === 'Default')
      this.#scope.findings.column(
        'values are as the API has them; they are not converted to the types of the schema',
      );
    else if (selector.child('schema_normalization')?.className === undefined)
      this.#scope.findings.not(
        selector.place('schema_normalization'),
        'No counterpart: a normalisation of values',
      );
    else {
      this.#normalizing = this.#normalized(selector.child('schema_normalization'), stream);
      this.#times = fieldsWithFormat(stream.get('schema_loader'), new Set(['date-time']));
      this.#scope.findings.column(
        'values are as the API has them; they are not converted by the Python code of the connector',
      );
    }
  }

  /** Keeps what may be an object or another value in one column: a run would end at a row of each. */
  keepMixed(): void {
    if (this.#case !== undefined) return;
    const { schema, resolved } = this.#schema;
    for (const field of mixedFields(schema, resolved)) {
      const [top = ''] = field.keys;
      const places = this.#names.pathsOf([top]);
      if (places?.[0]?.join('\n') !== top || this.#isChanged(top)) continue;
      this.#keepField(field);
    }
  }

  #keepField({ keys, isList }: MixedField): void {
    const name = keys.join('.');
    const paths = keys.map((_, index) => keys.slice(0, index + 1));
    const isGone = paths.some((path) => this.#exclude.includes(path.join('.')));
    const isMade = paths.some((path) => this.#columns.has(path.join('_')));
    if (isGone || isMade || keys.some((key) => /[.[\]?!]/.test(key))) return;
    this.#columns.set(keys.join('_'), scalarOrJson(keys));
    this.#inPlaceOf(name);
    this.#scope.findings.column(
      isList
        ? `“${name}” is JSON text, and no table: by the schema its items may be objects or other values`
        : `“${name}” is JSON text where it is an object: by the schema it may be another value, too`,
    );
  }

  /** Returns the fields that a normaliser of Python changes: all, unless its code asks for the format of a field. */
  #normalized(normalizer: ManifestComponent | undefined, stream: ManifestComponent): ChangedFields {
    const all: ChangedFields = { names: new Set(), isEmptied: true, isOpen: true, isMade: true };
    const type = normalizer === undefined ? undefined : this.#scope.code?.find(normalizer.className ?? '');
    if (type === undefined) return all;
    try {
      const names = fieldsWithFormat(stream.get('schema_loader'), normalizedFormats(type));
      return names === undefined ? all : { names, isEmptied: false, isOpen: false, isMade: false };
    } catch (error) {
      if (error instanceof CodeRefused) return all;
      throw error;
    }
  }

  #lift(transformation: ManifestComponent): void {
    const { findings } = this.#scope;
    findings.attempt(transformation.place('field_path'), transformation.get('field_path'), () => {
      const keys = this.#keysOf(transformation, 'field_path');
      const isReplaced = transformation.flag('replace_record');
      const around = transformation.child('key_transformation');
      const textIn = (key: string): string => {
        const value = around?.get(key);
        return around === undefined || value === undefined
          ? ''
          : pythonText(known(value, around, this.#scope).value);
      };
      this.#names.add(
        keys.includes('*')
          ? { kind: 'unknown' }
          : {
              kind: 'lift',
              path: keys,
              prefix: textIn('prefix'),
              suffix: textIn('suffix'),
              replaces: isReplaced,
            },
      );
      findings.column(liftedWords(keys, isReplaced));
    });
  }

  #replaceInNames(transformation: ManifestComponent): void {
    const textOf = (key: string): string =>
      pythonText(known(transformation.get(key) ?? '', transformation, this.#scope).value);
    this.#scope.findings.attempt(transformation.at, transformation.get('old'), () => {
      const [old, by] = [textOf('old'), textOf('new')];
      this.#names.add({ kind: 'replace', old, new: by });
      this.#scope.findings.column(`“${old}” in names is not replaced by “${by}”`);
    });
  }

  #add(field: ManifestComponent, transformation: ManifestComponent): void {
    const name = nameOf(field).join('.');
    const value = field.get('value');
    if (value === undefined) return;
    const isMade = this.#scope.findings.attemptColumn(name, value, () => {
      const typed = this.#valueOf(field, value, transformation);
      const { out } = typed;
      const read = field.text('value_type') === 'string' ? out : this.#readAgain(typed);
      // what a field alone holds is taken from there, also as a cursor
      this.#added.set(name, isField(out) || read === out ? typed : { out: read, type: 'any' });
      this.#removed.delete(name);
      if (field.expression(value).kind !== 'map' || !isMap(out)) {
        this.#columns.set(name.replaceAll('.', '_'), asSource(read));
        this.#inPlaceOf(name);
        return true;
      }
      // an object is a column for each of its keys
      for (const [key, part] of Object.entries(out)) {
        this.#added.set(`${name}.${key}`, { out: part, type: 'any' });
        this.#columns.set(`${name}_${key}`.replaceAll('.', '_'), asSource(part));
        this.#inPlaceOf(`${name}.${key}`);
      }
      return true;
    });
    if (isMade === true) return;
    const cut = typeof value === 'string' && !this.#added.has(name) ? cutItems(value, name) : undefined;
    this.#names.add(
      cut === undefined
        ? { kind: 'made', name: name.split('.')[0] ?? name }
        : { kind: 'cut', name, keys: cut },
    );
  }

  #readAgain(typed: Typed): TranslatedJson {
    return readAgain(typed, (field) => {
      const path = isMap(field) ? field['path'] : undefined;
      const kinds =
        typeof path === 'string' && !path.startsWith('$') ? this.#kindsOf(path.split('.')) : undefined;
      return kinds?.has('text') === false;
    });
  }

  /** Returns what a field of the record as it came may be. */
  #kindsOf(keys: readonly (string | number)[]): ReadonlySet<SchemaKind> | undefined {
    return this.#names.isChanged ? undefined : kindsOf(this.#schema.schema, keys);
  }

  /** Leaves out the field of the row itself whose column a value takes: one inside of an object keeps its own. */
  #inPlaceOf(name: string): void {
    if (!name.includes('.') || this.#names.isChanged || /[[\]?!]/.test(name)) return;
    if (!this.#exclude.includes(name)) this.#exclude.push(name);
  }

  #valueOf(field: ManifestComponent, value: ManifestNode, transformation: ManifestComponent): Typed {
    const position = this.#position();
    const isText = field.text('value_type') === 'string';
    const expression = field.expression(value);
    refuseOther(expression);
    const typed = translated(value, field, this.#scope, position, comparedByType);
    const wanted = isText ? textOf(expression, typed) : cellOf(typed);
    if (mayFail(expression, (keys) => this.#kindsOf(keys)))
      this.#scope.findings.column(
        `“${pathText(nameOf(field))}” is empty where a field is null, or of a type that the template does not take: the text of the template is there (${shown(value)})`,
      );
    for (const words of otherValues(expression, value))
      if (readsRow(wanted.out)) this.#scope.findings.column(`“${pathText(nameOf(field))}” ${words}`);
    const condition = transformation.text('condition') ?? '';
    if (condition === '') return wanted;
    const seen: TemplatePosition = {
      text: 'the record',
      reference: (root, keys) =>
        root === 'value' && keys.length === 0 ? wanted : position.reference(root, keys),
    };
    const test = testOf(transformation.expression(condition), (part) => valueOf(part, seen));
    const before = position.reference('record', nameOf(field));
    return { out: call('if', test, wanted.out, before?.out ?? null), type: 'any' };
  }

  #remove(transformation: ManifestComponent): void {
    const { findings } = this.#scope;
    const pointers = transformation.get('field_pointers');
    const names = (isSequence(pointers) ? pointers : []).map((pointer) =>
      isSequence(pointer) ? pointer.map(shown) : [shown(pointer)],
    );
    if ((transformation.text('condition') ?? '') !== '') {
      findings.column(
        `${names.map((keys) => `“${keys.join('.')}”`).join(', ')}: there in every row, and not only where a condition wants it`,
      );
      return;
    }
    for (const keys of names) {
      const name = keys.join('.');
      if (this.#names.isChanged) {
        findings.column(`“${name}” is still there`);
        continue;
      }
      this.#removed.add(name);
      // the field of the row itself, too, whose place the column took
      const isAdded = this.#columns.delete(name.replaceAll('.', '_'));
      if (keys.every((key) => !/[.[\]?!]/.test(key))) {
        if (!this.#exclude.includes(name)) this.#exclude.push(name);
      } else if (!isAdded) findings.column(`“${name}” is still there`);
    }
  }
}

/** Returns the path of an added field. */
function nameOf(field: ManifestComponent): readonly string[] {
  const path = field.get('path');
  return (isSequence(path) ? path : [path ?? '']).map(String);
}

/** Returns a value that stays a text. */
function textOf(of: Expression, typed: Typed): Typed {
  return isField(typed.out) ? shownField(of, typed) : { out: textOut(typed), type: 'text' };
}

/** Tells how the fields of an object are called that the other tool puts in the place of the record, or beside its fields. */
function liftedWords(keys: readonly string[], isReplaced: boolean): string {
  const replaces = isReplaced ? ', and the other fields of the record stay' : '';
  return `the fields of “${keys.join('.')}” have its name in front: “${keys.join('_')}_…”${replaces}`;
}

/** Converts a value for a cell: times, and numbers with a fraction, are texts there; a text such as `True` is read. */
function cellOf(typed: Typed): Typed {
  const { out } = typed;
  if (typeof out === 'string' && typed.type !== 'span') {
    const read = outOf(tupleOf(out) ?? literalOf(out));
    return { out: read, type: typeof read === 'boolean' ? 'boolean' : typed.type };
  }
  return ['seconds', 'day', 'float', 'span'].includes(typed.type)
    ? { out: textOut(typed), type: 'text' }
    : typed;
}

/** Marks a constant as a source: a text would be a path. */
function asSource(out: TranslatedJson): TranslatedJson {
  return typeof out === 'object' && out !== null && !Array.isArray(out) ? out : { value: out };
}

/** Returns the path of the rows. `*` is for every item or key. */
export function dataPath(keys: readonly string[]): TranslatedJson {
  if (keys.length === 0) return '.';
  if (keys.some((key) => key.includes('**') || (key !== '*' && /[*?]/.test(key))))
    throw new TemplateError('a path with a pattern in it');
  if (!keys.includes('*')) return pathText(keys);
  return `$${keys.map((key) => (key === '*' ? '[*]' : /^\d+$/.test(key) ? `[${key}]` : `['${key.replaceAll("'", "\\'")}']`)).join('')}`;
}
