import { createGotSend } from '../../../src/http/send/got.ts';
import { sendContract } from './send.contract.ts';

sendContract('got', createGotSend);
