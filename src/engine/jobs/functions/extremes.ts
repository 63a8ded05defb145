import { compareValues } from '../../language/index.ts';
import type { Json } from '../../../lib/json/index.ts';
import { CallError, isListArgument, type Argument } from './arguments.ts';
import type { LibraryFunction } from './function.ts';

/** The ends of an order. Null and empty texts are left out. */
export const EXTREMES: Readonly<Record<string, LibraryFunction>> = {
  max: extreme(
    'max',
    'The largest of the values, or of the items of a list: as numbers, as times, or as text.',
    1,
  ),
  min: extreme(
    'min',
    'The smallest of the values, or of the items of a list: as numbers, as times, or as text.',
    -1,
  ),
};

function extreme(name: string, description: string, sign: 1 | -1): LibraryFunction {
  return {
    usage: `${name}(value, …)`,
    description,
    arity: [1, Infinity],
    call: (args) => {
      let found: Json = null;
      for (const value of args.flatMap(valuesIn)) {
        if (value === null || value === '') continue;
        const order = found === null ? sign : compareValues(value, found);
        if (order === undefined) throw new CallError('the values cannot be compared with each other');
        if (order * sign > 0) found = value;
      }
      return found;
    },
  };
}

function valuesIn(arg: Argument): readonly Json[] {
  if (isListArgument(arg)) return arg;
  if (arg instanceof Uint8Array) throw new CallError('raw bytes cannot be compared');
  return [arg];
}
