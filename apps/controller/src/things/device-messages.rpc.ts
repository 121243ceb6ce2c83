import { run } from "@harrier/db";
import type { Handlers } from "@harrier/rpc";
import { type OutgoingDeps, readDeviceMessages } from "./outgoing.ts";
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
export function deviceMessagesHandlers(deps: ThingDeps & OutgoingDeps): Handlers<"harrier.controller.v1.DeviceMessagesService"> {
  return {
    listMessagingTenants: async () => ({ tenants: await run(deps.db.pool, readMessagingTenants, []) }),
    findThings: (request, ctx) => findThings(deps, request, ctx),
    registerThing: (request, ctx) => registerThing(deps, request, ctx),
    removeThing: (request, ctx) => removeThing(deps, request, ctx),
    updateThingAttributes: (request, ctx) => updateThingAttributes(deps, request, ctx),
    reportActionStatus: (request, ctx) => reportActionStatus(deps, request, ctx),
    switchThingAutoConfirm: (request, ctx) => switchThingAutoConfirm(deps, request, ctx),
    readDeviceMessages: (request) => readDeviceMessages(deps, request),
  };
}
