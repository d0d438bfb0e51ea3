// A client whose link is killed again and again under load: after each resume its picture must equal the hub's, and what it is
// sent depends on what changed and not on how many parameters there are.

import { plantOf } from '../../spec/support/load/many-parameters.ts';
import { startHub } from '../../spec/support/system/task-process.ts';
import { measureServer } from '../contenders/servers.ts';
import type { Contender, Subject } from '../harness/subject.ts';
import type { ResumeResult, ResumeTask } from '../load/resume.ts';

const changesPerSecond = 5000;
/** Up to so many parameters each resume is compared with what the hub tells over HTTP, beyond it each 25th. */
const fewParameters = 10_000;

export const v1Resume: Subject = {
  name: 'v1-resume',
  about:
    'patchbay.v1: a client whose link is killed at random times during 5,000 random changes per second; the values of the client are checked each time',
  measures: ['lib/connections/rest-api/sockets', 'lib/graph', 'lib/net'],
  rounds: 1,
  async cases(options, folder) {
    const { kills, resumeParameters } = options;
    const [least, ...more] = resumeParameters as [number, ...number[]];
    const nameOf = (parameters: number) => `${parameters.toLocaleString('en')} parameters`;
    const contender = (parameters: number, role: Contender['role']): Contender => ({
      name: role === 'hub' ? 'hub' : nameOf(parameters),
      role,
      async measure() {
        const compareEvery = parameters > fewParameters ? 25 : 1;
        const result = await measureServer<ResumeResult>(
          () => startHub(plantOf(parameters), folder, options),
          'bench/load/resume.ts',
          ({ port }): ResumeTask => ({ port, parameters, kills, changesPerSecond, compareEvery }),
        );
        return { ...result };
      },
    });
    return more.map((parameters) => ({
      name: `${nameOf(parameters)}, ${kills} kills`,
      metrics: [
        {
          key: 'bytesPerChanged',
          title: 'bytes per changed parameter',
          digits: 1,
          better: 'less',
          targets: [{ against: nameOf(least), atMost: 1.5 }],
        },
        { key: 'resumeBytes', title: 'bytes per resume', digits: 0 },
        { key: 'changed', title: 'changed parameters per resume', digits: 0 },
        { key: 'snapshotBytes', title: 'bytes of a snapshot', digits: 0 },
        { key: 'resumeMs', title: 'ms until the picture is complete, median', digits: 1 },
        { key: 'resumeMs99', title: 'ms until the picture is complete, p99', digits: 1 },
        { key: 'unfinished', title: 'links killed before that', digits: 0 },
      ],
      contenders: [contender(parameters, 'hub'), contender(least, 'ceiling')],
    }));
  },
};
