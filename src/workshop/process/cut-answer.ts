import { entriesOf, isList, isObject, objectOf, type Json } from '../../json/index.ts';

const ITEMS = 20;
const LETTERS = 1000;

/** The form of an answer is what matters: of long lists and texts the beginning is enough. */
export function cutAnswer(value: Json): Json {
  if (typeof value === 'string') return value.length > LETTERS ? `${value.slice(0, LETTERS)}…` : value;
  if (isList(value)) return value.slice(0, ITEMS).map(cutAnswer);
  if (isObject(value)) return objectOf(entriesOf(value).map(([key, each]) => [key, cutAnswer(each)]));
  return value;
}
