import { describeObjectStore } from './contract.ts';
import { startEmbedded } from './support.ts';

describeObjectStore('the folder store', async () => {
  const { store, client, close } = await startEmbedded();
  return { store, client, close, hasEncryption: true };
});
