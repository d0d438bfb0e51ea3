import test from 'ava';
import { FrameCache } from './frame-cache.ts';

test('a frame with many receivers is parsed once, and each continues at its position', (t) => {
  const parsed: string[] = [];
  const cache = new FrameCache((text) => {
    parsed.push(text);
    return text.toUpperCase();
  });
  const receive = (...texts: string[]) => {
    let next = 0;
    return texts.map((text) => {
      const place = cache.find(Buffer.from(text), next);
      next = place + 1;
      return cache.parsedAt(place);
    });
  };
  t.deepEqual(receive('a', 'b', 'c'), ['A', 'B', 'C']);
  t.deepEqual(receive('a', 'b', 'c', 'd'), ['A', 'B', 'C', 'D']);
  t.deepEqual(receive('b', 'x', 'd'), ['B', 'X', 'D']);
  t.deepEqual(parsed, ['a', 'b', 'c', 'd', 'x']);
});

test('a frame that differs in one byte is another frame', (t) => {
  const cache = new FrameCache((text) => text);
  const first = cache.find(Buffer.from('{"set":[[7,1]],"rev":1}'), 0);
  const second = cache.find(Buffer.from('{"set":[[7,2]],"rev":1}'), first);
  t.not(second, first);
  t.is(cache.parsedAt(second), '{"set":[[7,2]],"rev":1}');
});

test('a cache keeps its own copy of a frame, and only the last frames', (t) => {
  let parses = 0;
  const cache = new FrameCache((text) => {
    parses++;
    return text;
  });
  const buffer = Buffer.from('one');
  cache.find(buffer, 0);
  buffer.write('two');
  t.is(cache.parsedAt(cache.find(Buffer.from('one'), 0)), 'one');
  t.is(parses, 1);
  for (let index = 0; index < 600; index++) cache.find(Buffer.from(`frame ${index}`), 0);
  t.is(cache.parsedAt(cache.find(Buffer.from('one'), 0)), 'one');
  t.is(parses, 602);
});
