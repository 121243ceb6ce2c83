/**
 * Writes a row of the outbox that holds no event: nothing is published, but target filters are evaluated again (views/fleet-changes.sql). It is used
 * for changes that have no event and that a filter may query. `from` names the rows that changed, so that a call without changes notifies no filter.
 */
export const notify = (kind: "changed" | "polled", tenant: string, from: string): string =>
  `insert into outbox (tenant_id, topic, type, common, items) select ${tenant}, 'target-events', 'feed.${kind}', '{}', '[]' ${from}`;

/** Calls a function that changes targets and writes the row of the change feed with it: one statement, one commit. */
export const notifying = (select: string, changed: string): string =>
  `with done as materialized (${select}), notified as (${notify("changed", "$1", `from done where ${changed}`)}) select * from done`;
