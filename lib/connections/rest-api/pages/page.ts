// A page is an answer in JSON. One that takes long is made in slices, between which other clients have theirs.

import type { Dashboard } from '../../../dashboard/format.ts';
import type { Answer } from '../../../wire/http/answer.ts';
import type { Log } from '../../connection.ts';
import type { Disk } from '../files/disk.ts';
import type { Reading } from '../files/reading.ts';
import type { Handler } from '../http/admission.ts';
import { acceptOf, wantsJsonErrors } from '../http/answer/accept.ts';
import { preconditionsOf } from '../http/answer/conditional.ts';
import { jsonAnswerOf, replyJson } from '../http/answer/reply.ts';
import { keepResponse } from '../http/exchange.ts';
import { asHubError } from '../input/fault-gate.ts';
import { shareOf } from '../limits/share.ts';
import type { FairQueue } from '../pacing/fair-queue.ts';
import { remoteAddressOf } from '../proxies/remote-address.ts';
import { expectPresent } from '../users/present.ts';
import type { Visitor } from '../users/visitor.ts';

/** The JSON of a page. */
export type Page = Answer | Dashboard;

/** What a client asks for a page with. */
export interface PageRequest {
  /** The path as it came, percent-encoded. */
  readonly path: string;
  readonly query: string;
  readonly visitor: Visitor;
}

/** Reads a page, which may take until something has come. */
export type ReadPage = (request: PageRequest) => Page | Promise<Page>;

/** Answers with JSON, or 304. It answers at once, unless others have used up the time of this round. */
export function servePage(read: ReadPage, queue: FairQueue, log: Log): Handler {
  return (response, request, visitor) => {
    const path = request.getUrl();
    const query = request.getQuery() ?? '';
    const preconditions = preconditionsOf(request);
    const asJson = wantsJsonErrors(path, acceptOf(request));
    const exchange = keepResponse(response);
    const reply = (data: Page) => {
      expectPresent(visitor); // also when the page has come late
      const made = jsonAnswerOf(data, preconditions);
      exchange.reply(() => replyJson(response, made));
    };
    const fail = (error: unknown) => exchange.fail(asHubError(error, log), asJson);
    const answer = () => {
      if (exchange.isAborted) return;
      try {
        expectPresent(visitor);
        const data = read({ path, query, visitor });
        if (data instanceof Promise) data.then(reply).catch(fail);
        else reply(data);
      } catch (error) {
        fail(error);
      }
    };
    const advance = () => {
      answer();
      return false;
    };
    queue.do({ share: shareOf(visitor, remoteAddressOf(response)), line: undefined, advance });
  };
}

/** Answers with JSON that comes from files, or 304. */
export function servePageOfFiles(disk: Disk, read: (request: PageRequest) => Reading<Page>, log: Log): Handler {
  return (response, request, visitor) => {
    const path = request.getUrl();
    const preconditions = preconditionsOf(request);
    const asJson = wantsJsonErrors(path, acceptOf(request));
    const found = disk.read(read({ path, query: request.getQuery() ?? '', visitor }));
    if (!(found instanceof Promise)) return replyJson(response, jsonAnswerOf(found, preconditions));
    const exchange = keepResponse(response);
    found
      .then((data) => {
        expectPresent(visitor);
        const made = jsonAnswerOf(data, preconditions);
        exchange.reply(() => replyJson(response, made));
      })
      .catch((error) => exchange.fail(asHubError(error, log), asJson));
  };
}
