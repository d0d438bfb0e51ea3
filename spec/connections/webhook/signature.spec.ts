// Signatures of webhooks, by the examples that their inventors publish.

import test from 'ava';
import { schemeOf, secretMistake, sign, verify } from '../../../lib/connections/webhook/signature.ts';

const headersOf = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name] ?? '';
const standard = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  body: Buffer.from('{"test": 2432232314}'),
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
};

test('the example of Standard Webhooks is right, and the hub signs like it', (t) => {
  const { secret, body, headers } = standard;
  const verified = verify(schemeOf('standard'), secret, headersOf(headers), body);
  t.is(verified?.timestamp, 1614265330);
  t.is(verified?.id, headers['webhook-id']);
  const signed = sign(schemeOf('standard'), secret, { id: headers['webhook-id'], timestamp: 1614265330 }, body);
  t.deepEqual(signed, headers);
});

test('one of several signatures suffices, so that secrets can change', (t) => {
  const { secret, body, headers } = standard;
  const several = `v1,AAAA v2,xyz ${headers['webhook-signature']}`;
  t.truthy(verify(schemeOf('standard'), secret, headersOf({ ...headers, 'webhook-signature': several }), body));
});

test('a changed body, time, ID or secret, and no signature at all, are wrong', (t) => {
  const { secret, body, headers } = standard;
  const isRight = (changed: object, bytes = body, key = secret) =>
    verify(schemeOf('standard'), key, headersOf({ ...headers, ...changed }), bytes) !== undefined;
  t.true(isRight({}));
  t.false(isRight({}, Buffer.from('{"test": 2432232315}')));
  t.false(isRight({ 'webhook-timestamp': '1614265331' }));
  t.false(isRight({ 'webhook-id': 'msg_other' }));
  t.false(isRight({ 'webhook-signature': '' }));
  t.false(isRight({ 'webhook-signature': 'v1,' }));
  t.false(isRight({ 'webhook-signature': headers['webhook-signature'].slice(3) }));
  t.false(isRight({ 'webhook-signature': `${'v1,AAAA '.repeat(16)}${headers['webhook-signature']}` }));
  t.false(isRight({}, body, 'whsec_AAAA'));
});

test('the examples of GitHub and Slack are right', (t) => {
  const github = verify(
    schemeOf('github'),
    "It's a Secret to Everybody",
    headersOf({
      'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
      'x-github-delivery': '72d3162e',
    }),
    Buffer.from('Hello, World!'),
  );
  t.is(github?.id, '72d3162e');
  const slack = verify(
    schemeOf('slack'),
    '8f742231b10e8888abcd99yyyzzz85a5',
    headersOf({
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    }),
    Buffer.from(
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    ),
  );
  t.is(slack?.timestamp, 1531420618);
});

test('Stripe has its time and its signatures in one header', (t) => {
  const scheme = schemeOf('stripe');
  const body = Buffer.from('{"id":"evt_1"}');
  const headers = sign(scheme, 'whsec_test', { id: '', timestamp: 1492774577 }, body);
  t.regex(headers['stripe-signature']!, /^t=1492774577,v1=[\da-f]{64}$/);
  t.is(verify(scheme, 'whsec_test', headersOf(headers), body)?.timestamp, 1492774577);
  const older = headers['stripe-signature']!.replace('1492774577', '1492774578');
  t.is(verify(scheme, 'whsec_test', headersOf({ 'stripe-signature': older }), body), undefined);
});

for (const algorithm of ['sha1', 'sha256', 'sha512'] as const)
  for (const encoding of ['hex', 'base64'] as const)
    test(`a scheme of its own signs by ${algorithm} in ${encoding}`, (t) => {
      const scheme = { header: 'X-Sig', algorithm, encoding, prefix: `${algorithm}=`, content: 'a{body}b' };
      const body = Buffer.from([0, 255, 10]);
      const signed = sign(scheme, 'secret', { id: '', timestamp: 0 }, body);
      const lower = { 'x-sig': signed['X-Sig']! };
      t.truthy(verify(scheme, 'secret', headersOf(lower), body));
      t.is(verify(scheme, 'Secret', headersOf(lower), body), undefined);
    });

test('a secret of Standard Webhooks that is no base64 is an error', (t) => {
  t.is(secretMistake(schemeOf('standard'), 'whsec_!!'), 'expected base64 after whsec_');
  t.is(secretMistake(schemeOf('standard'), 'any text'), undefined);
});
