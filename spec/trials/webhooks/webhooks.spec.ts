import { holds } from '../short.ts';

holds('webhooks are passed on in order, and the others do not wait', 'webhooks', /^webhooks: .*: holds$/m);
