import { systemEnv } from '../../../../src/lib/env.ts';
import { createQueue } from '../../../../src/service/stores/queue/queue.ts';
import { openMeta, type Meta } from '../../../../src/service/stores/metadata/database.ts';
import { queueContract } from './contract.ts';

// One connection for all: two of one process would wait for each other.
let meta: Meta | undefined;

queueContract(
  'the queue of a folder',
  async () => {
    meta ??= await openMeta(':memory:');
    return { meta, queue: createQueue(meta, systemEnv), close: () => Promise.resolve() };
  },
  async () => {
    await meta?.destroy();
    meta = undefined;
  },
);
