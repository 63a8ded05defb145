import type { ViewProps } from '../../app/views.ts';
import { TokenDetail } from './detail.tsx';
import { TokenList } from './list.tsx';

export default function Tokens({ parts: [id] }: ViewProps) {
  return id === undefined ? <TokenList /> : <TokenDetail id={id} />;
}
