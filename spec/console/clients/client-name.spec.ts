// The names of clients on the page: what a person knows, before an address.

import test from 'ava';
import { hostName } from '../../../lib/console/clients/client-name.ts';

test('the machine itself is localhost, in every form of its address; others keep theirs', (t) => {
  for (const address of ['127.0.0.1', '127.1.2.3', '::1', '0000:0000:0000:0000:0000:0000:0000:0001'])
    t.is(hostName(address), 'localhost', address);
  for (const address of ['10.0.0.1', '2001:db8::1', '127.0.0.1.example', '0000:0000:0000:0000:0000:0000:0000:0011', ''])
    t.is(hostName(address), address);
});
