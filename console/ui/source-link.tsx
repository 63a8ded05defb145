import { Link } from '../route/link.tsx';
import { at } from '../route/router.ts';
import { Text } from './values.tsx';

/** Links to the page of a source, by its name. */
export function SourceLink({
  component,
  configuration,
  name,
}: {
  readonly component: string;
  readonly configuration: string;
  readonly name: string;
}) {
  return (
    <Link to={at`/sources/${component}/${configuration}`}>
      <Text>{name === '' ? configuration : name}</Text>
    </Link>
  );
}
