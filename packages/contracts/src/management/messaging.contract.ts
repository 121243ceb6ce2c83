import { z } from "zod";
import { ok, routesOf } from "../route.ts";
import { flag, recordUpTo } from "../values.ts";
import { password } from "./users.contract.ts";

/** A tenant has one user of each use. */
const maxUsers = 10;

/** New passwords by the name of the broker's user, or by its use, `dmf` or `sie`, which is known before the user is there. */
const passwords = recordUpTo(maxUsers, password).meta({ id: "MessagingPasswords" });

const address = { ssl: z.boolean(), service: z.string(), port: z.int(), vhost: z.string(), vHost: z.string() };

const user = z
  .object({ username: z.string(), password: z.string(), httpApiUrl: z.string(), amqpUri: z.string(), dashboardUrl: z.string() })
  .meta({ id: "MessagingUser" });

/** What a client needs to connect (spec 001 §4.8); passwords are shown only here. */
export const messagingAccess = z.object({ ...address, users: z.record(z.string(), user) }).meta({ id: "MessagingAccess" });
export type MessagingAccess = z.output<typeof messagingAccess>;

/** Messages of devices that were refused for one kind of reason. */
const refusals = z
  .object({ kind: z.string(), count: z.int().min(1), lastAt: z.int(), lastReason: z.string() })
  .meta({ id: "MessageRefusals" });

/** The messaging of a tenant; where it is not enabled there is neither a virtual host nor a user. */
export const messagingStatus = z
  .object({
    enabled: z.boolean(),
    dmfEnabled: z.boolean(),
    sieEnabled: z.boolean(),
    ssl: z.boolean(),
    port: z.int(),
    vhost: z.string().optional(),
    vHost: z.string().optional(),
    users: z.array(z.string()),
    waitingMessages: z.int().min(0).optional(),
    deadLetters: z.int().min(0).optional(),
    missing: z.array(z.enum(["dmf", "sie"])).optional(),
    refusals: z.array(refusals).optional(),
    sieFailingSince: z.int().optional(),
  })
  .meta({ id: "MessagingStatus" });
export type MessagingStatus = z.output<typeof messagingStatus>;

const dmfEnabling = z
  .object({ passwords: passwords.default({}), override: flag().default(false) })
  .meta({ id: "DmfEnabling" })
  .optional();
export type DmfEnabling = z.output<typeof dmfEnabling>;

const common = { service: "management", interface: "management", success: ok, source: "spec 001 §4.8" } as const;
const path = "/system/amqp";

/** Messaging of the tenant (spec 001 §4.8; contract management.md §10.5). */
export const messaging = routesOf("messaging", common, {
  status: {
    method: "GET",
    path,
    response: messagingStatus,
    permission: ["USER_MANAGEMENT"],
    errors: ["amqpNotAvailable"],
    summary: "Get the state of the tenant's messaging",
  },
  setPasswords: {
    method: "PUT",
    path: `${path}/passwords`,
    body: passwords,
    response: messagingStatus,
    permission: ["USER_MANAGEMENT"],
    errors: ["amqpNotAvailable", "amqpNotEnabled", "constraintViolation", "entityNotFound"],
    summary: "Change passwords of the tenant's users of the message broker",
  },
  enableDmf: {
    confidential: true,
    method: "POST",
    path: `${path}/dmf`,
    body: dmfEnabling,
    bodyKind: "optional-json",
    response: messagingAccess,
    permission: ["TENANT_CONFIGURATION"],
    errors: ["amqpNotAvailable", "amqpAlreadyEnabled", "constraintViolation", "entityNotFound"],
    summary: "Enable devices that speak DMF over AMQP, with a virtual host and a user for the tenant",
  },
  enableDmfWithGeneratedPasswords: {
    confidential: true,
    method: "POST",
    path: "/system/dmf",
    response: messagingAccess,
    permission: ["TENANT_CONFIGURATION"],
    errors: ["amqpNotAvailable", "amqpAlreadyEnabled"],
    summary: "Enable devices that speak DMF over AMQP, with generated passwords",
  },
  enableSie: {
    confidential: true,
    method: "POST",
    path: `${path}/sie`,
    response: messagingAccess,
    permission: ["TENANT_CONFIGURATION"],
    errors: ["amqpNotAvailable", "amqpAlreadyEnabled"],
    summary: "Enable the stream of events over AMQP, with a user that reads it",
  },
});
