/**
 * Writes a row of the outbox that holds no event: nothing is published, but target filters are evaluated again (views/fleet-changes.sql). It is used
 * for polls, which have no event and which a filter may query. `from` names what was polled, so that a call without polls notifies no filter.
 */
export const notifyPolled = (tenant: string, from: string): string =>
  `insert into outbox (tenant_id, topic, type, common, items) select ${tenant}, 'target-events', 'feed.polled', '{}', '[]' ${from}`;
