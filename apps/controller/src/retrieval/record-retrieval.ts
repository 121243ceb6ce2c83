import { type Queryable, run, runOne } from "@harrier/db";
import { alone, type Gathered, gather } from "../gather.ts";
import { callRetrieveAction, callRetrieveActions, type RetrievedRow } from "./retrieve.sql.ts";

/** One retrieval as SQL takes it. */
export interface StorableRetrieval {
  tenantId: number;
  controllerId: string;
  actionId: number;
  /** The place in the list of domain/visibility.ts. */
  resource: number;
  /** The number of messages of the history. */
  history: number;
  maxEntries: number;
  tenant: string;
  traceparent: string | null;
}

export type RecordRetrieval = Gathered<StorableRetrieval, RetrievedRow | undefined>;

/** The most statements at a time; a retrieval that waits for a lock does so on a connection of its own. */
const maxStatements = 4;

/** Makes the reader of deployments and cancellations: those that devices ask for at the same moment share a transaction. */
export function createRetrievalRecorder(db: Queryable, now: () => number = () => performance.now()): RecordRetrieval {
  return gather<StorableRetrieval, RetrievedRow | undefined>({
    now,
    maxStatements,
    one: (r) =>
      runOne(db, callRetrieveAction, [
        r.tenantId,
        r.controllerId,
        r.actionId,
        r.resource,
        r.history,
        r.maxEntries,
        r.tenant,
        r.traceparent,
      ]),
    async many(retrievals) {
      const rows = await run(db, callRetrieveActions, [
        retrievals.map((r) => r.tenantId),
        retrievals.map((r) => r.controllerId),
        retrievals.map((r) => r.actionId),
        retrievals.map((r) => r.resource),
        retrievals.map((r) => r.history),
        retrievals.map((r) => r.maxEntries),
        retrievals.map((r) => r.tenant),
        retrievals.map((r) => r.traceparent),
      ]);
      const answers: (RetrievedRow | typeof alone | undefined)[] = retrievals.map(() => undefined);
      for (const { place, ...row } of rows) answers[place - 1] = row.outcome === "busy" ? alone : row;
      return answers;
    },
  });
}
