/**
 * Assembler of WebAssembly for the part of its text format that `src/lib/wasm/*.wat` uses: folded instructions, one
 * memory, functions whose parameters and locals have names.
 */

type Form = string | readonly Form[];

const I32 = 0x7f;
const V128 = 0x7b;
const EMPTY = 0x40;
const END = 0x0b;
/** Magic number and version. */
const HEADER = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const EXPORTED = { func: 0, memory: 2, global: 3 } as const;

/** Instructions without immediates. */
const PLAIN: Readonly<Record<string, readonly number[]>> = {
  return: [0x0f],
  'i32.eqz': [0x45],
  'i32.eq': [0x46],
  'i32.ne': [0x47],
  'i32.lt_u': [0x49],
  'i32.gt_s': [0x4a],
  'i32.gt_u': [0x4b],
  'i32.le_u': [0x4d],
  'i32.ge_s': [0x4e],
  'i32.ge_u': [0x4f],
  'i32.ctz': [0x68],
  'i32.add': [0x6a],
  'i32.sub': [0x6b],
  'i32.and': [0x71],
  'i32.or': [0x72],
  'i32.xor': [0x73],
  'i32.shl': [0x74],
  'memory.copy': [0xfc, 10, 0, 0],
  'memory.fill': [0xfc, 11, 0],
  'i8x16.splat': [0xfd, 15],
  'i8x16.eq': [0xfd, 35],
  'i8x16.lt_u': [0xfd, 38],
  'v128.or': [0xfd, 80],
  'i8x16.bitmask': [0xfd, 100],
  'i8x16.sub': [0xfd, 113, 1],
};

/** Instructions with an offset in memory. Their alignment is said to be none. */
const MEMORY: Readonly<Record<string, readonly number[]>> = {
  'i32.load': [0x28],
  'i32.load8_u': [0x2d],
  'i32.load16_u': [0x2f],
  'i32.store': [0x36],
  'i32.store8': [0x3a],
  'i32.store16': [0x3b],
  'v128.load': [0xfd, 0],
  'v128.store': [0xfd, 11],
};

/** Instructions with the number of what they name. */
const NAMED: Readonly<
  Record<string, readonly [code: number, what: 'locals' | 'globals' | 'funcs' | 'labels']>
> = {
  'local.get': [0x20, 'locals'],
  'local.set': [0x21, 'locals'],
  'global.get': [0x23, 'globals'],
  'global.set': [0x24, 'globals'],
  call: [0x10, 'funcs'],
  br: [0x0c, 'labels'],
  br_if: [0x0d, 'labels'],
};

/** Names in scope, each at its number; of labels the innermost is the first. */
interface Names {
  readonly funcs: readonly string[];
  readonly globals: readonly string[];
  readonly locals: readonly string[];
  readonly labels: readonly string[];
}

/**
 * Assembles a module.
 *
 * @throws {Error} for what it does not know
 */
export function assemble(text: string): Uint8Array {
  const [module] = parse(text);
  const parts = listOf(module).slice(1).map(listOf);
  const of = (kind: string): (readonly Form[])[] => parts.filter(([first]) => first === kind);
  const [funcs, globals, memories] = [of('func'), of('global'), of('memory')];
  const names = { funcs: funcs.map(nameOf), globals: globals.map(nameOf), locals: [], labels: [] };
  const types = funcs.map((form) => [
    0x60,
    ...vector(fieldsOf(form, 'param').map(([, type]) => [typeCode(type)])),
    ...vector(fieldsOf(form, 'result').map(([type]) => [typeCode(type)])),
  ]);
  return Uint8Array.from([
    ...HEADER,
    ...section(1, vector(types)),
    ...section(3, vector(funcs.map((_, i) => unsigned(i)))),
    ...section(5, vector(memories.map((form) => [0, ...unsigned(Number(form.at(-1)))]))),
    ...section(6, vector(globals.map((form) => [I32, 1, ...code(form.at(-1) ?? '', names), END]))),
    ...section(
      7,
      vector([...exported('func', funcs), ...exported('memory', memories), ...exported('global', globals)]),
    ),
    ...section(10, vector(funcs.map((form) => sized(funcBody(form, names))))),
  ]);
}

/** Returns the exports of a kind: name, kind, number. */
function exported(kind: keyof typeof EXPORTED, list: readonly (readonly Form[])[]): number[][] {
  return list.flatMap((form, i) => {
    const name = fieldsOf(form, 'export')[0]?.[0];
    if (name === undefined) return [];
    return [[...textBytes(wordOf(name).replaceAll('"', '')), EXPORTED[kind], ...unsigned(i)]];
  });
}

function funcBody(form: readonly Form[], outer: Names): number[] {
  const params = fieldsOf(form, 'param');
  const locals = fieldsOf(form, 'local');
  const names = { ...outer, locals: [...params, ...locals].map(([name]) => wordOf(name)) };
  const body = form.slice(1).filter((each) => typeof each !== 'string' && !HEAD.has(wordOf(each[0])));
  return [...vector(locals.map(([, type]) => [1, typeCode(type)])), ...all(body, names), END];
}

const HEAD = new Set(['export', 'param', 'result', 'local']);

function all(forms: readonly Form[], names: Names): number[] {
  return forms.flatMap((form) => code(form, names));
}

/** Assembles one instruction, with those in it in front. */
function code(form: Form, names: Names): number[] {
  const [head, ...rest] = listOf(form);
  const name = wordOf(head);
  const plain = PLAIN[name];
  if (plain !== undefined) return [...all(rest, names), ...plain];
  if (name === 'i32.const') return [0x41, ...signed(Number(rest[0]) | 0)];
  if (name === 'block' || name === 'loop') {
    const [label, ...body] = rest;
    const inside = { ...names, labels: [wordOf(label), ...names.labels] };
    return [name === 'block' ? 0x02 : 0x03, EMPTY, ...all(body, inside), END];
  }
  if (name === 'if') {
    const [condition, then, otherwise] = rest;
    const inside = { ...names, labels: ['', ...names.labels] };
    const branch = (each: Form): number[] => all(listOf(each).slice(1), inside);
    const tail = otherwise === undefined ? [] : [0x05, ...branch(otherwise)];
    return [...code(condition ?? '', names), 0x04, EMPTY, ...branch(then ?? ''), ...tail, END];
  }
  const memory = MEMORY[name];
  if (memory !== undefined) {
    const [first, ...others] = rest;
    const isOffset = typeof first === 'string';
    const offset = isOffset ? Number(first.replace('offset=', '')) : 0;
    return [...all(isOffset ? others : rest, names), ...memory, 0, ...unsigned(offset)];
  }
  const named = NAMED[name];
  if (named === undefined) throw new Error(`no instruction: ${name}`);
  const [byte, what] = named;
  const [wanted, ...operands] = rest;
  const number = names[what].indexOf(wordOf(wanted));
  if (number < 0) throw new Error(`nothing has the name ${wordOf(wanted)}`);
  return [...all(operands, names), byte, ...unsigned(number)];
}

/** Reads lists in parentheses. A comment goes from `;;` to the end of its line. */
function parse(text: string): readonly Form[] {
  const tokens = text.replaceAll(/;;.*/g, '').match(/[()]|[^\s()]+/g) ?? [];
  const root: Form[] = [];
  const open = [root];
  for (const token of tokens) {
    if (token === '(') {
      const list: Form[] = [];
      open[0]?.push(list);
      open.unshift(list);
    } else if (token === ')') open.shift();
    else open[0]?.push(token);
  }
  if (open.length !== 1) throw new Error('parentheses do not pair up');
  return root;
}

function listOf(form: Form | undefined): readonly Form[] {
  if (form === undefined || typeof form === 'string') throw new Error(`no list: ${form}`);
  return form;
}

function wordOf(form: Form | undefined): string {
  if (typeof form !== 'string') throw new Error('a list in the place of a word');
  return form;
}

function nameOf(form: readonly Form[]): string {
  return typeof form[1] === 'string' ? form[1] : '';
}

/** Returns the contents of the lists in a form that begin with a word. */
function fieldsOf(form: readonly Form[], name: string): (readonly Form[])[] {
  return form.flatMap((each) => (typeof each !== 'string' && each[0] === name ? [each.slice(1)] : []));
}

function typeCode(type: Form | undefined): number {
  return type === 'v128' ? V128 : I32;
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...sized(content)];
}

function sized(content: readonly number[]): number[] {
  return [...unsigned(content.length), ...content];
}

function vector(items: readonly (readonly number[])[]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function textBytes(text: string): number[] {
  return sized([...Buffer.from(text)]);
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  return value >= -0x40 && value < 0x40 ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
