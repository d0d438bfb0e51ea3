// Addresses in paths: the hub reads the address that a client has put into a path, whatever it holds.

import test from 'ava';
import fc from 'fast-check';
import { decodePath } from '../../lib/connections/rest-api/input/request-path.ts';
import { pathOf } from '../../lib/model/address.ts';

test('slashes stay, everything else that a path cannot hold is percent-encoded', (t) => {
  t.is(pathOf('desk/lamp'), 'desk/lamp');
  t.is(pathOf('desk/Mic 1/100 %?#ä'), 'desk/Mic%201/100%20%25%3F%23%C3%A4');
});

test('a path is read as its original address', (t) => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (address) => t.is(decodePath(pathOf(address)), address)));
});
