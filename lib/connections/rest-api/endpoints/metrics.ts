// GET /hub/metrics: counts and states in the Prometheus text format.

import { text } from '../../../wire/http/shape.ts';
import { PlainText, type ReadPage, servePage } from '../http/page.ts';
import type { MetricsContext } from '../metrics/metric-registry.ts';
import type { Endpoint } from './endpoint.ts';

export const endpoints: Endpoint[] = [
  {
    method: 'GET',
    path: '/hub/metrics',
    need: 'metrics',
    id: 'readMetrics',
    tag: 'operation',
    summary: 'Metrics in the Prometheus text format',
    answers: { 200: { description: 'Metrics', content: { 'text/plain': text } } },
    serve: (context) => servePage(createMetricsPage(context), context.queue, context.log),
  },
];

/** The time after the start at which the metrics library is loaded, in milliseconds, so that loading does not delay the first requests. */
const loadAfterMs = 1000;

/**
 * Creates the metrics page, and loads the metrics library soon after the start. Loading takes ten times as long as an answer, so the
 * library is loaded before the first request, but never in commands without a REST API. Loading the library does not read any counts.
 * Requests that arrive while a page is being created share that page.
 */
export function createMetricsPage(context: MetricsContext): ReadPage {
  let loading: ReturnType<typeof load> | undefined;
  const load = () => import('../metrics/metric-registry.ts').then(({ createMetrics }) => createMetrics(context));
  const loadOnce = () => {
    loading ??= load();
    loading.catch(() => {}); // the first request reports the error
    return loading;
  };
  setTimeout(loadOnce, loadAfterMs).unref();
  let making: Promise<PlainText> | undefined;
  const make = async () => {
    const registry = await loadOnce();
    return new PlainText(registry.contentType, await registry.metrics());
  };
  return () => {
    making ??= make().finally(() => {
      making = undefined;
    });
    return making;
  };
}
