import { createGotSend } from '../../../../src/engine/http/send/got.ts';
import { sendContract } from './send.contract.ts';

sendContract('got', createGotSend);
