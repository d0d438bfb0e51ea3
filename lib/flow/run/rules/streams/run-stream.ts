// The body of a rule in TypeScript: a stream. If the stream fails, the hub subscribes to it again, with backoff.

import { resolve } from 'node:path';
import { defer, retry, Subscription, timer } from 'rxjs';
import { groupDigits } from '../../../../model/digits.ts';
import { Backoff, restartTimes } from '../../../../model/time/backoff.ts';
import type { Sources, StreamBody } from '../../../plan.ts';
import { ownName } from '../../../programs/flow-code.ts';
import { formatPlace, placeIn } from '../../../programs/stack.ts';
import type { RuleContext } from '../rule-context.ts';
import { StreamCauses } from './stream-causes.ts';

export function runStream(body: StreamBody, context: RuleContext): Subscription {
  const { scheduler, graph } = context.runtime;
  const { output } = context;
  const backoff = new Backoff(restartTimes);
  const subscription = new Subscription();
  const causes = new StreamCauses(graph, scheduler);
  const sources = streamSources(body, context, causes, subscription);
  const stream$ = defer(() => {
    body.connect(sources);
    return body.stream;
  });
  const delay = (error: unknown) => {
    output.fail(error);
    return timer(backoff.next(), scheduler);
  };
  const run = () =>
    stream$.pipe(retry({ delay })).subscribe({
      next(value) {
        backoff.reset();
        causes.runOutside(() => output.write(value));
      },
      error: (error) => output.fail(error),
    });
  causes.runInside(() => subscription.add(run()));
  return subscription;
}

// The sources of the stream of a rule in TypeScript. All subscriptions end with the rule, including subscriptions that the stream made
// later and never ended. The number of subscriptions is limited.

/** The maximum number of simultaneous subscriptions in a rule's streams. */
export const maxSubscriptions = 1000;
const tooMany = `its streams may have ${groupDigits(maxSubscriptions)} subscriptions at most; the next one was refused`;

/** Returns the sources that a rule's stream uses. All subscriptions to these sources end with `subscription`. */
function streamSources(
  body: StreamBody,
  { plan, runtime, sources, trace }: RuleContext,
  causes: StreamCauses,
  subscription: Subscription,
): Sources {
  let count = 0;
  const bounded = (subscribe: () => Subscription): Subscription => {
    if (subscription.closed) return Subscription.EMPTY;
    if (count >= maxSubscriptions) {
      const place = placeOfCaller(plan.file);
      const message = place === undefined ? tooMany : `${tooMany} (${place})`;
      trace.limit(message);
      runtime.reports.limited(plan, message);
      return Subscription.EMPTY;
    }
    count++;
    const one = subscribe();
    one.add(() => {
      count--;
      subscription.remove(one);
    });
    subscription.add(one);
    return one;
  };
  const own: Sources = {
    any: (addresses, listener, listensToWrites) =>
      bounded(() =>
        sources.any(addresses, { next: (value) => runInside(() => listener.next(value)) }, listensToWrites),
      ),
    named(named, next, listensToWrites) {
      const pass: typeof next = (values, isComplete) => runInside(() => next(values, isComplete));
      return bounded(() => sources.named(named, pass, listensToWrites));
    },
    peek: (address) => sources.peek(address),
  };
  /** Runs work in the stream. Subscriptions that the work makes later are counted for this rule, and not for another rule in the file. */
  const runInside = (work: () => void) =>
    causes.runInside(() => {
      body.connect(own);
      work();
    });
  return own;
}

/** Returns the location in the author's files from which the current call was made, or undefined if there is none. */
function placeOfCaller(file: string): string | undefined {
  const flow = { path: resolve(file), name: file };
  const place = placeIn(new Error('asked').stack ?? '', (path) => ownName(path, flow));
  return place && formatPlace(place);
}
