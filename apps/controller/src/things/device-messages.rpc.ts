import { type Database, run } from "@harrier/db";
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

/** harrier.controller.v1.DeviceMessagesService: what things send and get, for dmf (contract rollouts.md §8). */
export function deviceMessagesHandlers(
  deps: ThingDeps & OutgoingDeps & { background: Database },
): Handlers<"harrier.controller.v1.DeviceMessagesService"> {
  // what goes out takes no connection of devices
  const outgoing = { ...deps, db: deps.background };
  return {
    listMessagingTenants: async () => ({ tenants: await run(outgoing.db.pool, readMessagingTenants, []) }),
    findThings: (request, ctx) => findThings(deps, request, ctx),
    registerThing: (request, ctx) => registerThing(deps, request, ctx),
    removeThing: (request, ctx) => removeThing(deps, request, ctx),
    updateThingAttributes: (request, ctx) => updateThingAttributes(deps, request, ctx),
    reportActionStatus: (request, ctx) => reportActionStatus(deps, request, ctx),
    switchThingAutoConfirm: (request, ctx) => switchThingAutoConfirm(deps, request, ctx),
    readDeviceMessages: (request) => readDeviceMessages(outgoing, request),
    recordRefusals: (request) => recordRefusals(outgoing, request),
  };
}
