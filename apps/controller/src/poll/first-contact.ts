import type { IncomingHttpHeaders } from "node:http";
import type { Identity } from "@harrier/rpc";
import { deviceOf } from "../device.ts";
import { deviceAddress } from "./device-address.ts";
import type { FirstContact } from "./registration.ts";

/** The gateway adds this permission to every credential that authenticates the tenant rather than one existing target. */
const registerPermission = "REGISTER_TARGET";

interface Request {
  identity: Identity;
  base: string;
  params: { tenant: string };
  req: { headers: IncomingHttpHeaders };
}

/** Reads what is needed of a request that may be the first one of its device. */
export function firstContactOf(ctx: Request): FirstContact {
  return {
    device: deviceOf(ctx),
    address: deviceAddress(ctx.req.headers["x-forwarded-for"]),
    mayRegister: ctx.identity.permissions.includes(registerPermission),
  };
}
