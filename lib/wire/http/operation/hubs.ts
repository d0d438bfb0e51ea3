// The hubs of the domain that this one is in.

import type * as model from '../../../model/reports/domain-status.ts';
import type { IsoTime } from '../../time.ts';

/**
 * `GET /hub/hubs` answers with
 * `{"connection":"house","domain":"house","hub":"east","role":"alone","lease":{…},"link":{…},"hubs":[{"hub":"east","state":"this",…}]}`.
 */
export interface Domain extends Pick<model.DomainStatus, 'connection' | 'domain' | 'hub' | 'role'> {
  readonly lease: Lease;
  readonly link: Link;
  readonly hubs: readonly DomainHub[];
}

/** `{"state":"held","holder":"studio-pc","term":3,"since":"2026-…"}`. */
export interface Lease extends Omit<model.LeaseStatus, 'since'> {
  readonly since: IsoTime;
}

/** `{"isUp":true,"isOpen":false,"text":"10.0.0.5:4222","servers":["nats://10.0.0.5:4222"],"since":"2026-…","reconnects":0}`. */
export interface Link extends Omit<model.LinkStatus, 'since'> {
  readonly since: IsoTime;
}

/** `{"hub":"west","state":"fresh","connections":["desk"],"parameters":12,"mirror":{…}}`. */
export interface DomainHub extends Omit<model.DomainHub, 'mirror'> {
  readonly mirror?: Mirror | undefined;
}

/** `{"term":1,"machine":"studio-pc","lagMs":212,"gaps":0,"lostFires":0,"refused":0}`. */
export interface Mirror extends Omit<model.MirrorStatus, 'staleSince'> {
  readonly staleSince?: IsoTime | undefined;
}
