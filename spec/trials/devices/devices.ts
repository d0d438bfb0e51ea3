// npm run trial -- devices: third-party programs: mpd, rigctld, liquidsoap, OBS Studio, ser2net, ptys of socat, Apache, nginx and lighttpd.
// Reads, sets and confirms all of their parameters; kills, stops and restarts the programs. Exit status 1 if a check fails.

import { messageOf } from '../../../lib/model/error.ts';
import { pathOf } from '../../support/programs.ts';
import { Random } from '../../support/random.ts';
import { defineTrial, notify } from '../trial.ts';
import { tryApache } from './apache.ts';
import { tryHttpLoad, tryLighttpd, tryNginx } from './http.ts';
import { tryMixed } from './mixed.ts';
import { tryMosquitto, tryMqttAway, tryMqttLoad } from './mosquitto.ts';
import { tryObs } from './obs.ts';
import { tryLiquidsoap, tryMpd, tryRigctld, trySer2net } from './programs.ts';
import { type Breaks, Stage } from './stage.ts';
import { mayMakeNamespaces, tryVanish } from './vanish.ts';

interface Part {
  readonly about: string;
  /** The programs that it needs. */
  readonly needs: readonly string[];
  /** What else is missing on this machine. */
  missing?(): string | undefined;
  /** Errors: what does not hold. */
  run(stage: Stage, breaks: Breaks): Promise<void>;
}

const parts: Readonly<Record<string, Part>> = {
  apache: { about: 'Apache with Basic, Digest, ETag, chunked gzip and a redirect', needs: ['apache2'], run: tryApache },
  'http-load': { about: '10,000 polls/s of 100 devices over HTTP', needs: ['nginx', 'openssl'], run: tryHttpLoad },
  lighttpd: { about: 'Digest over HTTP, with SHA-256 and MD5', needs: ['lighttpd'], run: tryLighttpd },
  liquidsoap: { about: 'a variable of liquidsoap over telnet', needs: ['liquidsoap'], run: tryLiquidsoap },
  mixed: {
    about: '200 devices of mixed types, half of which are dead, beside ordinary clients',
    needs: ['mosquitto', 'socat'],
    run: tryMixed,
  },
  mosquitto: { about: 'a parameter behind an MQTT broker', needs: ['mosquitto'], run: tryMosquitto },
  'mqtt-away': { about: 'memory use while a broker is away for a minute', needs: ['mosquitto'], run: tryMqttAway },
  'mqtt-load': { about: 'state messages in both directions', needs: ['mosquitto'], run: tryMqttLoad },
  mpd: { about: 'a player, and a wrong password', needs: ['mpd'], run: tryMpd },
  nginx: { about: 'HTTP with Basic, gzip, TLS and a request limit', needs: ['nginx', 'openssl'], run: tryNginx },
  obs: {
    about: 'OBS Studio: a wrong password, and inputs that come and go',
    needs: ['obs', 'Xvfb'],
    run: tryObs,
  },
  rigctld: { about: 'a radio', needs: ['rigctld'], run: tryRigctld },
  ser2net: { about: 'a serial port behind ser2net', needs: ['ser2net', 'socat'], run: trySer2net },
  vanish: {
    about: 'a host that loses its cable or its address, with devices of all kinds and the target of webhooks',
    needs: ['ip', 'mosquitto', 'nginx', 'nsenter', 'socat', 'unshare'],
    missing: () => (mayMakeNamespaces() ? undefined : 'root, to make network namespaces'),
    run: tryVanish,
  },
};

export const trial = defineTrial({
  about:
    'kills, stops and starts real devices: values must become stale and then fresh again, and no command may be sent twice',
  options: {
    rounds: ['the number of times that each program is killed, stopped and started again', 10, 1],
    seed: ['the seed for the times of the kills', 1],
  },
  parts: { all: parts, short: ['lighttpd', 'mosquitto', 'nginx', 'rigctld', 'ser2net', 'vanish'] },
  async run({ rounds, seed }, { isShort, parts: chosen }) {
    let tried = 0;
    let failed = 0;
    const runPart = async ([name, { needs, missing: find, run }]: readonly [string, Part], index: number) => {
      const programs = needs.filter((program) => pathOf(program) === undefined);
      const missing = programs.length > 0 ? programs : [find?.()].filter((one) => one !== undefined);
      if (missing.length > 0) {
        notify(`${name}: left out, as it needs ${missing.join(' and ')}`);
        return;
      }
      tried++;
      const stage = new Stage();
      try {
        await run(stage, { rounds, stops: !isShort, random: new Random(seed, index) });
        notify(`${name}: all holds`);
      } catch (error) {
        failed++;
        notify(`${name}: **${messageOf(error)}**`);
      } finally {
        await stage.end();
      }
    };
    if (isShort) await Promise.all(chosen.map(runPart));
    else for (const [index, part] of chosen.entries()) await runPart(part, index);
    return tried > 0 && failed === 0;
  },
});
