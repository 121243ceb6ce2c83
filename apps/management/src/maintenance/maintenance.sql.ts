import { statement } from "@harrier/db";

/** Tells whether the relay has sent every event that was written before a time. */
export const eventsSentUntil = statement<[until: Date], { sent: boolean }>(
  "management.events_sent_until",
  `select not exists (select from outbox o, outbox_cursor c where o.at < $1 and not pg_visible_in_snapshot(o.txid, c.sent)) as sent`,
);
