import { randomUUID } from "node:crypto";
import type { JobState, NodeStatus } from "@harrier/jobs";
import { type Client, servicePrincipal } from "@harrier/rpc";
import type { Log, Node } from "@harrier/service";
import { KeyUses } from "./authentication/key-uses.ts";
import { SessionUses } from "./authentication/session/session-uses.ts";
import { DeniedRequests } from "./denied-requests/denied-requests.ts";

type Identity = Client<"harrier.management.v1.IdentityService">;

/** A stop waits for a report at most this long too. */
const deadlineMs = 2_000;
const principal = servicePrincipal("gateway");
const call = () => ({ principal, rid: randomUUID(), deadline: Date.now() + deadlineMs });

/** Reports to management which API keys are in use. */
export function keyUses(identity: Identity, wake: () => void): KeyUses {
  return new KeyUses({
    send: async (recorded) => {
      await identity.noteApiKeyUses({ uses: [...recorded] }, call());
    },
    wake,
    now: Date.now,
  });
}

/** Reports to management when sessions were last used. */
export function sessionUses(identity: Identity, wake: () => void): SessionUses {
  return new SessionUses({
    send: async (recorded) => {
      await identity.noteSessionUses({ uses: [...recorded] }, call());
    },
    wake,
  });
}

/** Reports that this gateway runs: it owns no data, so management keeps its row. */
export function tellNode(identity: Identity, node: Node, jobs: () => JobState[]): NodeStatus {
  return {
    record: () => identity.noteNode({ ...node, leaves: false, jobs: jobs() }, call()),
    leave: () => identity.noteNode({ ...node, leaves: true, jobs: [] }, call()),
  };
}

/** Reports what was denied, for the audit trail. */
export function countDeniedRequests(identity: Identity, log: Log, wake: () => void): DeniedRequests {
  return new DeniedRequests({
    send: async (deniedRequests, commandId) => {
      await identity.noteRefusals(
        { refusals: deniedRequests.map((one) => ({ ...one, entityIds: [...one.entityIds] })) },
        { ...call(), commandId },
      );
    },
    wake,
    onDropped: (lines, error) => log.error({ err: error, lines }, "management does not take what was refused; it is dropped"),
    now: Date.now,
  });
}
