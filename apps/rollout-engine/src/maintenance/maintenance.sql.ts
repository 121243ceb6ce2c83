import { statement } from "@harrier/db";

/** Whether the relay has sent every event that was written before a time. */
export const eventsSentUntil = statement<[until: Date], { sent: boolean }>(
  "rollout_engine.events_sent_until",
  `select not exists (
     select 1 from outbox o, outbox_cursor c where o.at < $1 and not pg_visible_in_snapshot(o.txid, c.sent)) as sent`,
);
