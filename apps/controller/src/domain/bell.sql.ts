/**
 * A row of the outbox that holds no event: nobody outside is told anything, but target filters look again (views/doorbells.sql). For changes
 * that no event tells of, and that a filter may ask for. `from`: where the change stands, so that what changed nothing rings nobody.
 */
export const ring = (kind: "changed" | "polled", tenant: string, from: string): string =>
  `insert into outbox (tenant_id, topic, type, common, items) select ${tenant}, 'target-events', 'bell.${kind}', '{}', '[]' ${from}`;

/** A function that changes targets, and the bell with it: one statement, one commit. */
export const ringing = (select: string, changed: string): string =>
  `with done as materialized (${select}), bell as (${ring("changed", "$1", `from done where ${changed}`)}) select * from done`;
