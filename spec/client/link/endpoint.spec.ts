// Where the socket of a hub is, and how credentials travel.

import test from 'ava';
import { findEndpoint } from '../../../lib/client/link/hub-endpoint.ts';

for (const [url, base, expected] of [
  ['ws://studio:17011/ws', undefined, 'ws://studio:17011/ws'],
  ['http://studio:17011', undefined, 'ws://studio:17011/ws'],
  ['https://studio/', undefined, 'wss://studio/ws'],
  ['wss://studio/hubs/one/', undefined, 'wss://studio/hubs/one/ws'],
  [undefined, 'http://studio:17011/panels/a.html?x#y', 'ws://studio:17011/ws'],
  [undefined, 'https://studio/', 'wss://studio/ws'],
  ['/hubs/one/ws', 'https://studio/panel', 'wss://studio/hubs/one/ws'],
  ['http://[::1]:80/#top', undefined, 'ws://[::1]/ws'],
] as const)
  test(`${url} on the page ${base} is ${expected}`, (t) => {
    t.deepEqual(findEndpoint(url, {}, base), { url: expected, protocols: ['patchbay.v1'], authorization: '' });
  });

for (const [credentials, authorization, protocol] of [
  [{ token: 'c2VjcmV0' }, 'Bearer c2VjcmV0', 'patchbay.authorization.QmVhcmVyIGMyVmpjbVYw'],
  [{ username: 'me', password: 'ü>?' }, 'Basic bWU6w7w+Pw==', 'patchbay.authorization.QmFzaWMgYldVNnc3dytQdz09'],
  [{ username: 'me' }, 'Basic bWU6', 'patchbay.authorization.QmFzaWMgYldVNg'],
] as const)
  test(`${JSON.stringify(credentials)} is ${protocol}`, (t) => {
    const endpoint = findEndpoint('ws://studio/ws', credentials);
    t.is(endpoint.authorization, authorization);
    t.deepEqual(endpoint.protocols, ['patchbay.v1', protocol]);
    t.is(Buffer.from(protocol.slice('patchbay.authorization.'.length), 'base64url').toString(), authorization);
  });

test('without a page an address is required', (t) => {
  t.throws(() => findEndpoint(undefined, {}), {
    instanceOf: TypeError,
    message: /^url: expected the address of a hub/,
  });
  t.throws(() => findEndpoint('studio', {}), { instanceOf: TypeError });
});
