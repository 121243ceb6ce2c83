import { type Database, recordGuest, run } from "@harrier/db";
import { HarrierError } from "@harrier/errors";
import type { Handlers } from "@harrier/rpc";
import { type OutgoingDeps, readDeviceMessages } from "./outgoing.ts";
import { recordRefusals } from "./refusals.ts";
import { readMessagingTenants } from "./things.sql.ts";
import {
  findThings,
  registerThing,
  removeThing,
  reportActionStatus,
  switchThingAutoConfirm,
  type ThingDeps,
  updateThingAttributes,
} from "./things.ts";

export type DeviceMessagesDeps = ThingDeps &
  OutgoingDeps & {
    background: Database;
    /** Whether the views that are needed exist: management has not migrated yet where they do not. */
    readable: () => boolean;
  };

/** harrier.controller.v1.DeviceMessagesService: what things send and get, for dmf (contract rollouts.md §8). */
export function deviceMessagesHandlers(deps: DeviceMessagesDeps): Handlers<"harrier.controller.v1.DeviceMessagesService"> {
  // what goes out takes no connection of devices
  const outgoing = { ...deps, db: deps.background };
  // dmf asks these two by itself as soon as it runs; everything else follows them
  const whenReadable = async <T>(work: () => Promise<T>): Promise<T> => {
    if (!deps.readable()) throw new HarrierError("unavailable");
    return work();
  };
  return {
    listMessagingTenants: async () => ({ tenants: await whenReadable(() => run(outgoing.db.pool, readMessagingTenants, [])) }),
    findThings: (request, ctx) => findThings(deps, request, ctx),
    registerThing: (request, ctx) => registerThing(deps, request, ctx),
    removeThing: (request, ctx) => removeThing(deps, request, ctx),
    updateThingAttributes: (request, ctx) => updateThingAttributes(deps, request, ctx),
    reportActionStatus: (request, ctx) => reportActionStatus(deps, request, ctx),
    switchThingAutoConfirm: (request, ctx) => switchThingAutoConfirm(deps, request, ctx),
    readDeviceMessages: (request) => whenReadable(() => readDeviceMessages(outgoing, request)),
    recordRefusals: (request) => recordRefusals(outgoing, request),
    noteProcess: async (request) => {
      // dmf owns no data, so its processes are rows of controller (contract console.md, M24)
      await recordGuest(outgoing.db.pool, "dmf", request);
      return {};
    },
  };
}
