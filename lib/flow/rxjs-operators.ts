// The module that TypeScript flows receive when they import `rxjs/operators`: the hub's RxJS operators.

export * from 'rxjs/operators';
export {
  audit,
  auditTime,
  bufferTime,
  concatMap,
  debounceTime,
  delay,
  exhaustMap,
  mergeMap,
  publishReplay,
  repeat,
  retry,
  sample,
  sampleTime,
  shareReplay,
  switchMap,
  throttle,
  throttleTime,
  timeInterval,
  timeout,
  timeoutWith,
  timestamp,
  windowTime,
} from './rxjs.ts';
