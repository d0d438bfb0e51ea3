// GET /hub/metrics: counts and states in the text format of Prometheus.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Log } from '../../connection.ts';
import { wantsJsonErrors } from '../http/answer/accept.ts';
import { begin } from '../http/answer/headers.ts';
import { send } from '../http/answer/send.ts';
import { keepResponse } from '../http/exchange.ts';
import { asHubError } from '../input/fault-gate.ts';
import type { MetricsContext } from './metrics.ts';

/** Creates the page. The library of the metrics is loaded when somebody asks for the first time. */
export function createMetricsPage(context: MetricsContext, log: Log) {
  let loading: ReturnType<typeof load> | undefined;
  const load = async () => (await import('./metrics.ts')).createMetrics(context);
  return async (response: HttpResponse, request: HttpRequest): Promise<void> => {
    const asJson = wantsJsonErrors(request.getUrl(), request.getHeader('accept'));
    const exchange = keepResponse(response);
    try {
      loading ??= load();
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
