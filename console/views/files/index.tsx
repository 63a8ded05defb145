import type { ViewProps } from '../../app/views.ts';
import { FileDetail } from './detail.tsx';
import { FileList } from './list.tsx';

export default function Files({ parts: [id] }: ViewProps) {
  return id === undefined ? <FileList /> : <FileDetail id={id} />;
}
