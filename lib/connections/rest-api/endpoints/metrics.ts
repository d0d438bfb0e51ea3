// GET /hub/metrics: counts and states in the text format of Prometheus.

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
    summary: 'Counts and states in the text format of Prometheus',
    answers: { 200: { description: 'Metrics', content: { 'text/plain': text } } },
    serve: (context) => servePage(createMetricsPage(context), context.queue, context.log),
  },
];

/**
 * Creates the page, and begins to load the library of the metrics. That takes ten times as long as an answer, so it is done before anybody
 * asks: the hubs of the warm-up (`command/run/run.ts`) have loaded it before the first client comes. A command that starts no REST API
 * does not load it. No count is read for that. Whoever asks while the page is being made gets the same one.
 */
export function createMetricsPage(context: MetricsContext): ReadPage {
  const loading = import('../metrics/metric-registry.ts').then(({ createMetrics }) => createMetrics(context));
  loading.catch(() => {}); // whoever asks is told what is wrong
  let making: Promise<PlainText> | undefined;
  const make = async () => {
    const registry = await loading;
    return new PlainText(registry.contentType, await registry.metrics());
  };
  return () => {
    making ??= make().finally(() => {
      making = undefined;
    });
    return making;
  };
}
