// GET /hub/metrics: counts and states in the text format of Prometheus.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { acceptOf, wantsJsonErrors } from '../http/answer/accept.ts';
import { begin } from '../http/answer/headers.ts';
import { send } from '../http/answer/send.ts';
import { keepResponse } from '../http/exchange.ts';
import { asHubError } from '../input/fault-gate.ts';
import type { MetricsContext } from './metrics.ts';

/**
 * Creates the page, and begins to load the library of the metrics. That takes ten times as long as an answer, so it is done before anybody
 * asks: the hubs of the warm-up (`command/run/warm-up.ts`) have loaded it before the first client comes. A command that starts no REST API
 * does not load it. No count is read for that.
 */
export function createMetricsPage(context: MetricsContext, log: Log) {
  const loading = import('./metrics.ts').then(({ createMetrics }) => createMetrics(context));
  loading.catch(() => {}); // whoever asks is told what is wrong
  return async (response: HttpResponse, request: HttpRequest): Promise<void> => {
    const asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
    const exchange = keepResponse(response);
    try {
      const registry = await loading;
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
