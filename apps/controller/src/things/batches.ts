import type { DeviceMessageInput } from "@harrier/rpc";
import type { Tenant } from "./behind.ts";
import type { Told } from "./messages.ts";

/** A message to one thing that may become part of a batch. */
export interface Single {
  readonly tenant: Tenant;
  readonly exchange: string;
  readonly controllerId: string;
  readonly told: Told;
}

interface ActionBody {
  readonly actionId: number;
  readonly targetSecurityToken: string;
  readonly softwareModules: readonly object[];
}

interface Batch {
  readonly single: Single;
  readonly targets: object[];
}

/** What a message of each topic is called as a batch; others are sent to each thing. */
const topics: Readonly<Record<string, string>> = { DOWNLOAD_AND_INSTALL: "BATCH_DOWNLOAD_AND_INSTALL", DOWNLOAD: "BATCH_DOWNLOAD" };
/** What a target adds to a batch besides its id: an action, a token and the names of the members. */
const targetBytes = 200;

/**
 * Collects messages to things with one reply exchange that shall do the same with the same set, as `batch.assignments.enabled` demands (contract
 * rollouts.md §8.4). Each reply exchange gets a batch of its own things, with the links of the first of them.
 */
export class Batches {
  readonly #now: number;
  readonly #batches = new Map<string, Batch>();

  constructor(now: number) {
    this.#now = now;
  }

  /** How many bytes the batch of this message grows by; undefined for a message that is none of a batch. */
  sizeOf(single: Single): number | undefined {
    const { told, controllerId } = single;
    if (topics[told.topic] === undefined || told.set === undefined) return undefined;
    const begun = this.#batches.has(keyOf(single));
    const modules = begun ? 0 : Buffer.byteLength(JSON.stringify((told.body as ActionBody).softwareModules));
    return Buffer.byteLength(controllerId) + targetBytes + modules;
  }

  add(single: Single): void {
    const batch = this.#batches.get(keyOf(single)) ?? { single, targets: [] };
    const { actionId, targetSecurityToken } = single.told.body as ActionBody;
    batch.targets.push({ actionId, controllerId: single.controllerId, targetSecurityToken });
    this.#batches.set(keyOf(single), batch);
  }

  messages(): DeviceMessageInput[] {
    return [...this.#batches.values()].map(({ single: { tenant, exchange, told }, targets }) => {
      const { softwareModules } = told.body as ActionBody;
      const body = JSON.stringify({ timestamp: this.#now, targets, softwareModules });
      return { ...tenant, exchange, controllerId: "", type: told.type, topic: topics[told.topic] ?? "", body };
    });
  }
}

const keyOf = ({ tenant, exchange, told }: Single): string => JSON.stringify([tenant.tenantId, exchange, told.topic, told.set]);
