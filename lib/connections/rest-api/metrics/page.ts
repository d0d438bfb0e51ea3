// GET /hub/metrics: counts and states in the text format of Prometheus.

import type { Registry } from 'prom-client';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { wantsJsonErrors } from '../http/answer/accept.ts';
import { begin } from '../http/answer/headers.ts';
import { send } from '../http/answer/send.ts';
import { keepResponse } from '../http/exchange.ts';
import { asHubError } from '../input/fault-gate.ts';
import type { MetricsContext } from './metrics.ts';

/** How long after its start a hub has the time to load the library, in milliseconds. */
const loadAfterMs = 5000;

/**
 * Creates the page. The library of the metrics is loaded when somebody asks, or soon after the start, as that takes ten times as long as to
 * answer. No count is read then: a hub that nobody asks is not woken up for one.
 */
export function createMetricsPage(context: MetricsContext, log: Log, afterMs = loadAfterMs) {
  let loading: Promise<Registry> | undefined;
  const load = () => {
    loading ??= import('./metrics.ts').then(({ createMetrics }) => createMetrics(context));
    return loading;
  };
  setTimeout(() => load().catch(() => {}), afterMs).unref(); // whoever asks is told what is wrong
  return async (response: HttpResponse, request: HttpRequest): Promise<void> => {
    const asJson = wantsJsonErrors(request.getUrl(), request.getHeader('accept'));
    const exchange = keepResponse(response);
    try {
      const registry = await load();
      const text = await registry.metrics();
      exchange.reply(() => {
        begin(response).writeHeader('Content-Type', registry.contentType).writeHeader('Cache-Control', 'no-store');
        send(response, text);
      });
    } catch (error) {
      exchange.fail(asHubError(error, log), asJson);
    }
  };
}
