// Frames of a device: what one costs the hub, and whether that grows with the patterns of the description.

import { performTask } from '../../spec/support/system/task-process.ts';
import type { Case, Contender, Subject } from '../harness/subject.ts';
import type { DeviceFramesResult, DeviceFramesTask } from '../load/device-frames.ts';

const few = 10;
const usual = 200;
const many = 2000;
const targetUs = 2;
const steadyPerSecond = 50_000;
const targetPercent = 25;
const fewForAll = 'four patterns for as many parameters';
/** 2,000 parameters take more time than 200, because they do not fit into the caches: their patterns must not. */
const mostGrowth = 1.25;

export const deviceFrames: Subject = {
  name: 'device-frames',
  about:
    'a frame from a device over TCP that changes a parameter: processor time of the hub from the socket to the graph',
  measures: ['lib/connections/device', 'lib/device', 'lib/graph'],
  rounds: 5,
  async cases({ hubFolder, profileFolder, isQuick, measureMs }) {
    const frames = isQuick ? 5000 : 1_000_000;
    const task = (parameters: number, framesPerSecond?: number, hasPatterns = true): DeviceFramesTask => {
      const count = framesPerSecond === undefined ? frames : (framesPerSecond * measureMs) / 1000;
      return {
        ...{ hubFolder, profileFolder, isQuick, parameters, hasPatterns, framesPerSecond },
        ...{ frames: count, warmUpFrames: count / 2 },
      };
    };
    const contender = (role: Contender['role'], name: string, one: DeviceFramesTask): Contender => ({
      name,
      role,
      async measure() {
        const { usPerFrame, busyPercent } = await performTask<DeviceFramesResult>('bench/load/device-frames.ts', one);
        return { time: usPerFrame, busy: busyPercent };
      },
    });
    const time = { key: 'time', title: 'µs per frame', digits: 2, better: 'less' } as const;
    const cases: Case[] = [
      {
        name: `${usual} patterns`,
        metrics: [{ ...time, targets: [{ atMost: targetUs }] }],
        contenders: [contender('hub', 'hub', task(usual))],
      },
      { name: `${few} patterns`, metrics: [time], contenders: [contender('hub', 'hub', task(few))] },
      {
        name: `${many.toLocaleString('en')} patterns`,
        metrics: [{ ...time, targets: [{ against: fewForAll, atMost: mostGrowth }] }],
        contenders: [
          contender('hub', 'hub', task(many)),
          contender('ceiling', fewForAll, task(many, undefined, false)),
        ],
      },
      {
        name: `${usual} patterns, ${steadyPerSecond.toLocaleString('en')} frames/s`,
        metrics: [
          { key: 'busy', title: '% of a core', digits: 0, better: 'less', targets: [{ atMost: targetPercent }] },
        ],
        contenders: [contender('hub', 'hub', task(usual, steadyPerSecond))],
      },
    ];
    return cases;
  },
};
