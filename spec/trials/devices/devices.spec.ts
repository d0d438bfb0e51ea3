import { needs } from '../../support/programs.ts';
import { holds } from '../short.ts';

needs('mosquitto', 'rigctld', 'ser2net', 'socat');

holds(
  'the values of a broker and a radio that are killed, and of a serial port behind ser2net, come back by themselves',
  'devices',
  /(?:^(?: {2}broken 1 times, .*\n)*(?:mosquitto|rigctld|ser2net): all holds\n?){3}/m,
);
