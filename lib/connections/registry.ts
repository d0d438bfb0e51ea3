// The connection types of the hub, one per line. All other lists of types are derived from this file. A type is loaded only if a flow file
// uses it.

export const registry = {
  alarms: () => import('./alarms/alarms.ts').then(({ alarms }) => alarms),
  companion: () => import('./companion/companion.ts').then(({ companion }) => companion),
  device: () => import('./device/device.ts').then(({ device }) => device),
  dmx: () => import('./dmx/dmx.ts').then(({ dmx }) => dmx),
  dummy: () => import('./dummy/dummy.ts').then(({ dummy }) => dummy),
  'ember-plus': () => import('./ember-plus/ember-plus.ts').then(({ emberPlus }) => emberPlus),
  'home-assistant': () => import('./home-assistant/home-assistant.ts').then(({ homeAssistant }) => homeAssistant),
  keyboard: () => import('./keyboard/keyboard.ts').then(({ keyboard }) => keyboard),
  mail: () => import('./mail/mail.ts').then(({ mail }) => mail),
  midi: () => import('./midi/midi.ts').then(({ midi }) => midi),
  modbus: () => import('./modbus/modbus.ts').then(({ modbus }) => modbus),
  mqtt: () => import('./mqtt/mqtt.ts').then(({ mqtt }) => mqtt),
  nats: () => import('./nats/nats.ts').then(({ nats }) => nats),
  osc: () => import('./osc/osc.ts').then(({ osc }) => osc),
  'rest-api': () => import('./rest-api/rest-api.ts').then(({ restApi }) => restApi),
  satellite: () => import('./satellite/satellite.ts').then(({ satellite }) => satellite),
  schedule: () => import('./schedule/schedule.ts').then(({ schedule }) => schedule),
  snmp: () => import('./snmp/snmp.ts').then(({ snmp }) => snmp),
  store: () => import('./store/store.ts').then(({ store }) => store),
  timer: () => import('./timer/timer.ts').then(({ timer }) => timer),
  'tsl-umd': () => import('./tsl-umd/tsl-umd.ts').then(({ tslUmd }) => tslUmd),
  'virtual-core': () => import('./virtual-core/virtual-core.ts').then(({ virtualCore }) => virtualCore),
  webhook: () => import('./webhook/webhook.ts').then(({ webhook }) => webhook),
  'xml-file-output': () => import('./xml-file-output/xml-file-output.ts').then(({ xmlFileOutput }) => xmlFileOutput),
};

/**
 * Substitutes for the types that do work on each change, keyed by type name. During the warm-up, the substitutes do the same work without
 * threads and files.
 */
export const rehearsals = {
  store: () => import('./store/store.ts').then(({ storeRehearsal }) => storeRehearsal),
};
