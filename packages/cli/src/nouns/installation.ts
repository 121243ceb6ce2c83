import { text } from "../command.ts";
import { usage } from "../exit.ts";
import { columnsOf } from "../output/columns.ts";
import { r } from "../routes.ts";
import type { Session } from "../session.ts";
import { readSecret } from "../sign-in.ts";
import { type Entity, listVerb, noun, stepVerb, verbsOf } from "./entity.ts";
import { keyed, rawVerb, rowsVerb, showVerb } from "./reads.ts";
import { description } from "./types.ts";

const auditColumns = columnsOf("time", "actor", "action", "entityIds", "result", "status", "sourceIp", "requestId");
const quotaColumns = columnsOf("key", "used", "limit");

const tenantEntity: Entity = {
  word: "tenant",
  list: r.tenants.list,
  param: "tenantName",
  ref: { member: "name", text: true },
  columns: columnsOf("name", "status", "description", "createdAt"),
  get: r.tenants.get,
  create: r.tenants.create,
  many: true,
  creates: [
    description,
    {
      flags: "--administrator <name>",
      text: "its first administrator, whose password is generated and shown once",
      member: "administrator",
      read: (name) => ({ name }),
    },
  ],
  madeColumns: [
    { head: "ADMINISTRATOR", at: "administrator.name" },
    { head: "PASSWORD", at: "administrator.password" },
  ],
  update: r.tenants.update,
  updates: [description],
  delete: r.tenants.delete,
  deletesLater: true,
};

function setQuota(session: Session, params: { readonly tenantName: string; readonly key: string }, limit: string) {
  if (!/^-?\d{1,15}$/.test(limit)) throw usage("the limit is a whole number");
  return session.write(r.tenantQuotas.set, { params, body: { limit: Number(limit) } });
}

/** What concerns the tenant and the installation as a whole. */
export const installation = [
  noun(["audit"], "Audit trail: who changed what", [
    listVerb(r.audit.list, auditColumns, "List changing calls and failed sign-ins, the newest first"),
    {
      name: "get",
      summary: "Show one entry",
      args: "<id>",
      run: async (session, [auditId = ""]) =>
        session.one(await session.read(r.audit.get, { params: { auditId } }), [
          ...auditColumns,
          ...columnsOf("errorCode", "details", "sealed"),
        ]),
    },
    rowsVerb({
      name: "verify",
      summary: "Verify the newest part of the chains that seal the trail",
      row: r.audit.verify,
      columns: columnsOf("service", "valid", "complete", "entries", "lastBatch", "reason"),
      rows: (answer) => (answer as { services: unknown[] }).services,
    }),
    rawVerb({
      name: "export",
      summary: "Write the trail as CSV, the newest first",
      row: r.audit.exportCsv,
      options: [["-q, --query <fiql>", "only what the query finds"]],
      query: (options) => ({ q: text(options, "query") }),
    }),
  ]),
  noun(["quota", "quotas"], "Quotas of the tenant", [
    rowsVerb({ name: "list", summary: "List the quotas with their use", row: r.quotas.list, columns: quotaColumns, rows: keyed }),
    {
      name: "get",
      summary: "Show one quota",
      args: "<key>",
      run: async (session, [key = ""]) => session.one({ key, ...(await session.read(r.quotas.get, { params: { key } })) }, quotaColumns),
    },
    {
      name: "set",
      summary: "Set a quota of the tenant in which the operator works; a limit of 0 or less is none",
      args: "<key> <limit>",
      writes: true,
      async run(session, [key = "", limit = ""]) {
        const { tenant: tenantName } = await session.read(r.userinfo.get);
        await session.one({ key, ...(await setQuota(session, { tenantName, key }, limit)) }, quotaColumns);
      },
    },
  ]),
  noun(["tenant", "tenants"], "Tenants of the installation, for its operator", [
    ...verbsOf(tenantEntity),
    stepVerb(tenantEntity, {
      name: "suspend",
      summary: "Suspend a tenant: nobody signs in to it",
      row: r.tenants.suspend,
      done: "is suspended",
      destructive: true,
    }),
    stepVerb(tenantEntity, { name: "resume", summary: "Let everybody in again", row: r.tenants.resume, done: "is active" }),
    rowsVerb({
      name: "quotas",
      summary: "List the quotas of a tenant",
      row: r.tenantQuotas.list,
      of: tenantEntity,
      columns: quotaColumns,
      rows: keyed,
    }),
    {
      name: "quota",
      summary: "Show or set a quota of a tenant; a limit of 0 or less is none",
      args: "<name> <key> [limit]",
      completes: [tenantEntity],
      writes: true,
      async run(session, [tenantName = "", key = "", limit]) {
        const params = { tenantName, key };
        const quota = limit === undefined ? await session.read(r.tenantQuotas.get, { params }) : await setQuota(session, params, limit);
        await session.one({ key, ...quota }, quotaColumns);
      },
    },
  ]),
  noun(["permission", "permissions"], "Permissions that there are", [
    rowsVerb({ name: "list", summary: "List every permission", row: r.permissions.list, columns: columnsOf("name", "area", "text") }),
  ]),
  noun(["system"], "Processes of the installation, for its operator", [
    rowsVerb({
      name: "status",
      summary: "List the processes with their version and when they were last seen",
      row: r.systemStatus.get,
      columns: columnsOf("service", "id", "host", "version", "up", "startedAt", "seenAt"),
      rows: (answer) => (answer as { nodes: unknown[] }).nodes,
    }),
  ]),
  noun(["messaging"], "Messaging of the tenant: devices over AMQP", [
    showVerb({
      name: "status",
      summary: "Show the virtual host and its users",
      row: r.messaging.status,
      columns: columnsOf("enabled", "dmfEnabled", "sieEnabled", "vhost", "users", "missing", "waitingMessages", "deadLetters"),
    }),
    ...(
      [
        ["dmf", r.messaging.enableDmfWithGeneratedPasswords],
        ["sie", r.messaging.enableSie],
      ] as const
    ).map(([name, row]) => ({
      name,
      summary: `Enable ${name}, with a user whose password is shown once`,
      writes: true as const,
      run: async (session: Parameters<ReturnType<typeof showVerb>["run"]>[0]) =>
        session.one(await session.write(row), columnsOf("service", "port", "vhost", "users")),
    })),
    {
      name: "password",
      summary: "Change the password of a user of the broker; it is read from standard input",
      args: "<user>",
      writes: true,
      async run(session, [user = ""]) {
        await session.write(r.messaging.setPasswords, { body: { [user]: await readSecret() } });
        session.note(`the password of ${user} is changed`);
      },
    },
  ]),
];
