// What flows in TypeScript get where they import `rxjs/operators`.

export * from 'rxjs/operators';
export {
  audit,
  auditTime,
  concatMap,
  exhaustMap,
  mergeMap,
  sample,
  sampleTime,
  switchMap,
  throttle,
  throttleTime,
} from './run/rules/streams/stream-operators.ts';
export {
  bufferTime,
  debounceTime,
  delay,
  publishReplay,
  repeat,
  retry,
  shareReplay,
  timeInterval,
  timeout,
  timeoutWith,
  timestamp,
  windowTime,
} from './run/rules/streams/timed-operators.ts';
