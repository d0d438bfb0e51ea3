// What an output that changes later was caused by: the input that started its own timer, whatever happened meanwhile.

import test from 'ava';
import { startCore } from '../../support/core.ts';

test('two simultaneous timers: each output has its own input as its cause', async (t) => {
  const core = await startCore(t, ['a,B,true', 'b,B,true'], {
    one: { block: 'TOF', in: 'a', pt: 300 },
    two: { block: 'TOF', in: 'b', pt: 300 },
  });
  core.turn({ a: false });
  core.pass(50);
  core.turn({ b: false });
  core.pass(1000);
  for (const [output, input] of [
    ['one', 'a'],
    ['two', 'b'],
  ]) {
    const { value, cause } = core.graph.find(`core/${output}`)!.lastChange!;
    t.is(value, false);
    t.is(cause?.parameter.address, `desk/${input}`);
  }
});

test('a pulse that ends has its beginning as its cause, not the fall of its input meanwhile', async (t) => {
  const core = await startCore(t, ['go,B,false'], { pulse: { block: 'TP', in: 'go', pt: 500 } });
  core.turn({ go: true });
  const rise = core.graph.find('desk/go')!.lastChange;
  core.pass(200);
  core.turn({ go: false });
  core.pass(1000);
  t.is(core.value('core/pulse'), false);
  t.is(core.graph.find('core/pulse')!.lastChange!.cause, rise);
});

test('an output of another output has the input that led to both as its cause', async (t) => {
  const core = await startCore(t, ['a,I,0', 'b,I,0'], {
    sum: { type: 'I', expression: 'a + b' },
    twice: { type: 'I', expression: 'sum * 2' },
  });
  core.turn({ a: 1 });
  core.turn({ b: 2 });
  t.is(core.value('core/twice'), 6);
  t.is(core.graph.find('core/twice')!.lastChange!.cause, core.graph.find('desk/b')!.lastChange);
});
