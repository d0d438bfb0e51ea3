// Spans, with what an SDK of OpenTelemetry registers at its API: a provider that notes them.

import { type SpanContext, SpanStatusCode, type Tracer, type TracerProvider, trace } from '@opentelemetry/api';
import test from 'ava';
import { ask } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';
import { openV1 } from '../../../support/sockets/v1.ts';
import '../../../support/own-process.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

interface NotedSpan {
  readonly name: string;
  readonly parent: SpanContext | undefined;
  readonly own: SpanContext;
  status: SpanStatusCode;
  hasEnded: boolean;
}

/** Notes the spans that are started. */
function noteSpans(): NotedSpan[] {
  const noted: NotedSpan[] = [];
  const startSpan: Tracer['startSpan'] = (name, _, parentContext) => {
    const parent = trace.getSpanContext(parentContext!);
    const own = { traceId: parent!.traceId, spanId: `${noted.length + 1}`.padStart(16, '0'), traceFlags: 1 };
    const note: NotedSpan = { name, parent, own, status: SpanStatusCode.UNSET, hasEnded: false };
    noted.push(note);
    const span = trace.wrapSpanContext(own);
    return Object.assign(span, {
      setStatus(status: { code: SpanStatusCode }) {
        note.status = status.code;
        return span;
      },
      end() {
        note.hasEnded = true;
      },
    });
  };
  const provider = { getTracer: () => ({ startSpan }) as unknown as Tracer } satisfies TracerProvider;
  trace.setGlobalTracerProvider(provider);
  return noted;
}

test('a write with a trace has a span that its changes name; others have none', async (t) => {
  const spans = noteSpans();
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['level,I'] } },
  });
  const { port } = hub;
  const traceOf = () => hub.find('desk/level')!.lastChange!.origin.traceparent;
  const update = (value: string, headers = {}) =>
    ask(t, port, `GET /update?parameter=desk/level&value=${value}`, { headers });
  const v1 = await openV1(t, port);
  const set = async (message: object) => {
    v1.send({ ...message, ack: 1 });
    await v1.next();
  };

  await update('1');
  await set({ set: [['desk/level', 2]] });
  t.deepEqual([spans.length, traceOf()], [0, undefined]);

  await update('3', { traceparent });
  t.is(traceOf(), `00-${traceId}-0000000000000001-01`);
  await set({ set: [['desk/level', 4]], traceparent });
  t.is(traceOf(), `00-${traceId}-0000000000000002-01`);
  t.is((await update('loud', { traceparent })).status, 400);
  const mixed = [
    ['desk/level', 5],
    ['desk/none', 1],
  ];
  await set({ set: mixed, traceparent });

  t.deepEqual(
    spans.map(({ name, status, hasEnded }) => [name, status, hasEnded]),
    [
      ['update', SpanStatusCode.UNSET, true],
      ['set', SpanStatusCode.UNSET, true],
      ['update', SpanStatusCode.ERROR, true],
      ['set', SpanStatusCode.ERROR, true],
    ],
  );
  for (const { parent } of spans) t.like(parent, { traceId, spanId: '00f067aa0ba902b7', isRemote: true });
});
