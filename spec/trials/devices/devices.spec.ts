import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('lighttpd', 'mosquitto', 'nginx', 'openssl', 'rigctld', 'ser2net', 'socat');

holds(
  'the values of a broker, a radio, two web servers and a serial port that are killed come back by themselves',
  'devices',
  /(?:^(?: {2}broken 1 times, .*\n)*(?:lighttpd|mosquitto|nginx|rigctld|ser2net): all holds\n?){5}/m,
);
