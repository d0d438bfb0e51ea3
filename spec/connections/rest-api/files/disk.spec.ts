// Files are read immediately from a disk that is quick, and later from one that is not.

import { tmpdir } from 'node:os';
import test from 'ava';
import { createDisk, type Reading } from '../../../../lib/connections/rest-api/files/reading.ts';

function* taking(ms: number, gauges: { time: number; reads: number }, reads = 1): Reading<string> {
  yield {
    now() {
      gauges.time += ms;
      gauges.reads += reads;
    },
    later: () => Promise.resolve(),
  };
  return 'read';
}

test('after three slow answers nobody waits for a disk for a minute', async (t) => {
  const gauges = { time: 0, reads: 0 };
  const disk = createDisk(tmpdir(), {
    now: () => gauges.time,
    diskReads: () => gauges.reads,
    mountInfo: () => '1 1 8:1 / / rw - ext4 /dev/x rw\n',
  });
  t.is(disk.read(taking(50, gauges)), 'read');
  for (let count = 0; count < 3; count++) t.is(disk.read(taking(51, gauges)), 'read');
  const later = disk.read(taking(1, gauges));
  t.true(later instanceof Promise);
  t.is(await later, 'read');
  gauges.time += 60_000;
  t.is(disk.read(taking(1, gauges)), 'read');
  for (let count = 0; count < 10; count++)
    t.is(disk.read(taking(51, gauges, 0)), 'read', 'the processor was elsewhere, no disk was read');
});
