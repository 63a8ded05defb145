import { withHeader } from '../../shared/message.ts';
import { signing, type AuthType } from './auth.ts';
import { headerText, requiredText } from './values.ts';

/** A fixed bearer token (RFC 6750): `{"type": "bearer", "#token": "abc"}` sends `Authorization: Bearer abc`. */
export const bearer: AuthType = {
  type: 'bearer',
  options: {
    type: 'object',
    title: 'Bearer token',
    description: 'Sends a fixed token as `Authorization: Bearer …`.',
    required: ['type'],
    anyOf: [{ required: ['#token'] }, { required: ['token'] }],
    properties: {
      type: { const: 'bearer', title: 'Type', description: 'A fixed bearer token.', examples: ['bearer'] },
      '#token': {
        type: ['string', 'number', 'object'],
        title: 'Token',
        description: 'The token, or a function that gives it (it sees `attr`).',
        examples: ['eyJhbGciOi', { attr: '#token' }],
      },
      token: {
        type: ['string', 'number', 'object'],
        title: 'Token, not hidden',
        description: 'The same as `#token`, stored in plain text. `#token` wins.',
        examples: [{ attr: '#token' }],
      },
    },
    examples: [{ type: 'bearer', '#token': 'eyJhbGciOi' }],
  },

  create(node, context) {
    const token = headerText(requiredText(node, ['#token', 'token'], context), `${context.at}.#token`);
    return signing((request) => ({
      ...request,
      headers: withHeader(request.headers, 'Authorization', `Bearer ${token}`),
    }));
  },
};
