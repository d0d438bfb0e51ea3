// Has it be day in this process and its browsers, so that the night that a test looks at is over. To be imported first.

import '../own-process.ts';

const isNight = new Date().getUTCHours() < 10;
process.env.TZ = isNight ? 'Etc/GMT-10' : 'UTC';
