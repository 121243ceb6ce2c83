import { forgetNode, noteNode, type Queryable } from "@harrier/db";
import type { JobState, NoteNodeRequest, NoteNodeResponse } from "@harrier/rpc";

/** A gateway has some ten jobs; what says more is no gateway of this release, and is cut. */
const maxJobs = 100;

/** Records that a gateway is there, or forgets one that ends in order: gateways own no data (contract console.md §3). */
export async function noteGateway(deps: { db: Queryable }, { leaves, jobs, ...node }: NoteNodeRequest): Promise<NoteNodeResponse> {
  if (leaves) await forgetNode(deps.db, node.id);
  else await noteNode(deps.db, { ...node, service: "gateway", jobs: jobs.slice(0, maxJobs).map(stateOf) }, { ownSchema: false });
  return {};
}

/** The message has members beside these, which say which of the optional ones are there. */
const stateOf = ({ name, lastRunAt, failures, lastError, lastErrorAt, backlog }: JobState): object => ({
  name,
  lastRunAt,
  failures,
  lastError,
  lastErrorAt,
  backlog,
});
