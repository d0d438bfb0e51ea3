// IP addresses and networks, as settings and proxies write them.

import { BlockList } from 'node:net';
import test from 'ava';
import fc from 'fast-check';
import {
  Networks,
  readAddress,
  readNetwork,
  shownAddress,
} from '../../../../lib/connections/rest-api/proxies/ip-address.ts';

const addresses: [text: string, address: string | undefined][] = [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:207', '192.0.2.7'],
  ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8::1', '2001:0db8:0000:0000:0000:0000:0000:0001'],
  ['2001:DB8:0:0:8:800:200C:417A', '2001:0db8:0000:0000:0008:0800:200c:417a'],
  ['::', '0000:0000:0000:0000:0000:0000:0000:0000'],
  ['::1', '0000:0000:0000:0000:0000:0000:0000:0001'],
  ['1::', '0001:0000:0000:0000:0000:0000:0000:0000'],
  ['64:ff9b::192.0.2.33', '0064:ff9b:0000:0000:0000:0000:c000:0221'],
  ['::192.0.2.33', '0000:0000:0000:0000:0000:0000:c000:0221'],
  ['fe80::1%eth0', 'fe80:0000:0000:0000:0000:0000:0000:0001'],
  ['', undefined],
  ['localhost', undefined],
  ['192.0.2', undefined],
  ['192.0.2.256', undefined],
  ['192.0.02.7', undefined],
  ['192.0.2.7 ', undefined],
  ['[::1]', undefined],
  ['1::2::3', undefined],
  ['0x7f.0.0.1', undefined],
  ['2130706433', undefined],
];
for (const [text, address] of addresses)
  test(`${JSON.stringify(text)} is read as ${address ?? 'no address'}`, (t) => t.is(readAddress(text), address));

test('an address in its canonical form is read as itself, from any original form', (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const address = readAddress(text);
      t.truthy(address);
      t.is(readAddress(address!), address);
      const list = new BlockList();
      list.addAddress(text, text.includes(':') ? 'ipv6' : 'ipv4');
      t.true(list.check(address!, address!.includes(':') ? 'ipv6' : 'ipv4'), `${text} ${address}`);
    }),
  );
});

const networks: [text: string, has: string[], hasNot: string[]][] = [
  ['10.0.0.0/8', ['10.0.0.0', '10.255.255.255'], ['9.255.255.255', '11.0.0.0', '::']],
  ['10.1.2.3/8', ['10.255.0.1'], ['11.1.2.3']],
  ['192.0.2.7', ['192.0.2.7', '::ffff:192.0.2.7'], ['192.0.2.8']],
  ['::ffff:10.0.0.0/104', ['10.1.2.3'], ['11.1.2.3']],
  ['::ffff:192.0.2.7', ['192.0.2.7'], ['192.0.2.6']],
  ['2001:db8::/32', ['2001:db8:ffff::1'], ['2001:db9::', '32.1.13.184']],
  ['fe80::/10', ['fe80::1%eth0', 'febf::1'], ['fec0::1']],
  ['::1', ['::1'], ['127.0.0.1', '::2']],
  ['0.0.0.0/0', ['1.2.3.4'], ['::1']],
];
for (const [text, has, hasNot] of networks)
  test(`the network ${text} has its addresses and no others`, (t) => {
    const network = new Networks([text]);
    for (const address of has) t.true(network.has(readAddress(address)!), address);
    for (const address of hasNot) t.false(network.has(readAddress(address)!), address);
  });

for (const text of [
  '',
  '/8',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.0/-1',
  '::/129',
  'localhost',
  '10.0.0.0/8/8',
  '10/8',
  'fe80::1%eth0',
  '::ffff:0:0/95',
  'all',
]) // prettier-ignore
  test(`${JSON.stringify(text)} is not a network`, (t) => t.is(readNetwork(text), undefined));

const shown: [address: string, text: string][] = [
  ['192.0.2.7', '192.0.2.7'],
  ['127.0.0.1', '127.0.0.1'],
  ['0000:0000:0000:0000:0000:0000:0000:0001', 'localhost'],
  ['0000:0000:0000:0000:0000:0000:0000:0000', '::'],
  ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
  ['2001:0db8:0000:0000:0008:0800:200c:417a', '2001:db8::8:800:200c:417a'],
  ['2001:0db8:0000:0000::/64', '2001:db8::/64'],
  ['user a:b', 'user a:b'],
  ['', ''],
];
for (const [address, text] of shown) test(`${address} is shown as ${text}`, (t) => t.is(shownAddress(address), text));
