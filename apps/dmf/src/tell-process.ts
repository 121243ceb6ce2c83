import { randomUUID } from "node:crypto";
import type { JobState, NodeStatus } from "@harrier/jobs";
import { type Client, servicePrincipal } from "@harrier/rpc";
import type { Node } from "@harrier/service";

/** A stop waits for it at most this long. */
const deadlineMs = 2_000;
const call = () => ({ principal: servicePrincipal("dmf"), rid: randomUUID(), deadline: Date.now() + deadlineMs });

/** Tells controller that this process runs: dmf owns no data, so controller keeps its row. */
export function tellProcess(
  controller: Pick<Client<"harrier.controller.v1.DeviceMessagesService">, "noteProcess">,
  node: Node,
  jobs: () => JobState[],
): NodeStatus {
  return {
    record: () => controller.noteProcess({ ...node, leaves: false, jobs: jobs() }, call()),
    leave: () => controller.noteProcess({ ...node, leaves: true, jobs: [] }, call()),
  };
}
