import { createNodeSend } from '../../../../src/engine/http/send/node.ts';
import { sendContract } from './send.contract.ts';

sendContract('the runtime’s client', createNodeSend);
