import { entriesOf, isList, isObject, JsonNumber, type Json } from '../../../src/lib/json/value.ts';
import { Text } from '../values.tsx';

/** Deeper levels are one line. */
const DEEPEST = 6;
const LONGEST = 300;

/** Shows a value with all its content. */
export function JsonTree({ value, depth = 0 }: { readonly value: Json; readonly depth?: number }) {
  const entries = entriesIn(value);
  if (entries === undefined) return <Leaf value={value} />;
  return (
    <ul class="tree">
      {entries.map(([name, inner]) => {
        const isInner = depth < DEEPEST && (entriesIn(inner)?.length ?? 0) > 0;
        return (
          <li key={name}>
            <div class="tree-line">
              <span class="tree-name">
                <Text>{name}</Text>
              </span>
              {!isInner && <Leaf value={inner} />}
            </div>
            {isInner && <JsonTree value={inner} depth={depth + 1} />}
          </li>
        );
      })}
    </ul>
  );
}

function Leaf({ value }: { readonly value: Json }) {
  return (
    <span class="tree-text muted">
      <Text>{lineText(value)}</Text>
    </span>
  );
}

/** Formats a value in one line. */
export function lineText(value: Json): string {
  const text = compact(value, LONGEST);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Formats a value as JSON, up to a length. */
function compact(value: Json, room: number): string {
  const entries = entriesIn(value);
  if (entries === undefined) return scalarText(value);
  const isNamed = isObject(value);
  const parts: string[] = [];
  let left = room;
  for (const [name, inner] of entries) {
    if (left < 0) break;
    const part = (isNamed ? `${name}: ` : '') + compact(inner, left);
    parts.push(part);
    left -= part.length;
  }
  const [open, close] = isNamed ? ['{', '}'] : ['[', ']'];
  return open + parts.join(', ') + close;
}

/** Formats a scalar as JSON: `true` is not 1, and an empty text is not nothing. */
export function scalarText(value: Json): string {
  return value instanceof JsonNumber ? value.literal : JSON.stringify(value);
}

/** Returns the entries of an object or list; undefined for any other value. */
function entriesIn(value: Json): readonly (readonly [string, Json])[] | undefined {
  if (isList(value)) return value.map((item, i) => [String(i + 1), item]);
  return isObject(value) ? entriesOf(value) : undefined;
}
