// A surface in a process of its own, for specs that kill or stop it: `node surface-process.ts <port> <device ID>`.

import { SurfaceClient } from './client.ts';

const [port, deviceId] = process.argv.slice(2);
const surface = new SurfaceClient({ port: Number(port), deviceId: deviceId!, args: 'BITMAPS=72 TEXT=1' });
process.on('message', (message: { press: number }) => surface.press(message.press));
process.on('disconnect', () => process.exit());
await surface.start();
process.send!('ready');
