// PUBLISH packets: what is written is read again, whatever its length, and the form in which messages are shown.

import test from 'ava';
import {
  maxPacketBytes,
  PublishWriter,
  packetLength,
  readPublish,
  showPublished,
} from '../../../lib/connections/mqtt/publish-packet.ts';

const versions = [4, 5] as const;

const messages: readonly (readonly [topic: string, payload: string, isRetained: boolean])[] = [
  ['a', '', false],
  ['hub/tree/17', '20', true],
  ['café/€/🎹', 'größer', false],
  ['\ud800', 'a lone surrogate \udc00', false],
  ['x'.repeat(65_535), 'a', true],
  ...[120, 128, 16_380, 16_384, 300_000].map((length) => ['long', 'ä'.repeat(length / 2), false] as const),
];

for (const version of versions)
  test(`MQTT ${version}: packets that are written together are read as they were added`, (t) => {
    const writer = new PublishWriter(version);
    for (let round = 0; round < 2; round++) {
      for (const message of messages) t.true(writer.add(...message));
      const packets = writer.take();
      t.is(writer.length, 0);
      writer.add('later', 'x'.repeat(1000), false);
      writer.take(); // what was taken before stays as it is
      let at = 0;
      for (const [topic, payload, isRetained] of messages) {
        const end = at + packetLength(packets, at)!;
        const read = readPublish(packets, at, end, version)!;
        t.is(read.topic, topic.toWellFormed());
        t.is(read.payload.toString(), payload.toWellFormed());
        t.is(read.isRetained, isRetained);
        at = end;
      }
      t.is(at, packets.length);
    }
  });

test('a topic or a message that is too long for MQTT is not added', (t) => {
  const writer = new PublishWriter(5);
  t.false(writer.add('ä'.repeat(32_768), '', false));
  t.false(writer.add('a', 'x'.repeat(maxPacketBytes - 1), false));
  t.is(writer.take().length, 0);
});

test('a message is shown as its topic, a space and its payload', (t) => {
  for (const [topic, payload] of messages) {
    const shown = Buffer.from(`${topic} ${payload}`).toString();
    t.is(showPublished(topic, payload).toString(), shown);
    t.is(showPublished(topic, Buffer.from(payload)).toString(), shown);
  }
});
