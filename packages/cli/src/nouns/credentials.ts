import { text } from "../command.ts";
import { columnsOf } from "../output/columns.ts";
import { refOf } from "../resolve.ts";
import { r } from "../routes.ts";
import { wholeOf } from "../session.ts";
import { readSecret } from "../sign-in.ts";
import { type Entity, noun, verbsOf } from "./entity.ts";
import { rowsVerb } from "./reads.ts";
import { description } from "./types.ts";

const names = (value: string | true) => String(value).split(",");

const keyEntity: Entity = {
  word: "API key",
  list: r.apiKeys.list,
  whole: true,
  param: "apiKeyId",
  columns: columnsOf("id", "name", "expiresAt", "lastUsedOn", "description"),
  get: r.apiKeys.get,
  create: r.apiKeys.create,
  creates: [{ flags: "--expires <date>", text: "when it ends, as 2027-01-31", member: "expiresAt", required: true }, description],
  madeColumns: [{ head: "KEY", at: "apiKey" }],
  update: r.apiKeys.update,
  updates: [description],
  delete: r.apiKeys.delete,
};

const clientEntity: Entity = {
  word: "OAuth client",
  list: r.oauth2Clients.list,
  ref: { member: "clientId" },
  param: "clientId",
  columns: [...columnsOf("clientId", "name", "scopes", "lastUsedOn"), { head: "TTL", at: "accessTokenTtl", wide: true }],
  get: r.oauth2Clients.get,
  create: r.oauth2Clients.create,
  many: true,
  creates: [
    { flags: "--scopes <names>", text: "permissions, with commas", member: "scopes", required: true, read: names },
    { flags: "--ttl <seconds>", text: "how long its tokens are good", member: "accessTokenTtl", read: Number },
    description,
  ],
  madeColumns: [{ head: "SECRET", at: "clientSecret" }],
  update: r.oauth2Clients.update,
  updates: [
    { flags: "--name <name>", text: "another name", member: "name" },
    { flags: "--scopes <names>", text: "permissions, with commas", member: "scopes", read: names },
    { flags: "--ttl <seconds>", text: "how long its tokens are good", member: "accessTokenTtl", read: Number },
    description,
  ],
  delete: r.oauth2Clients.delete,
};

const webhookEntity: Entity = {
  word: "webhook",
  list: r.webhooks.list,
  whole: true,
  param: "webhookId",
  columns: [
    ...columnsOf("id", "name", "url", "enabled"),
    { head: "TYPES", at: (row: { types?: string[] }) => row.types?.join(",") ?? "all" },
    ...columnsOf("lastDeliveredAt", "failingSince", "lastError"),
  ],
  get: r.webhooks.get,
  create: r.webhooks.create,
  many: true,
  creates: [
    { flags: "--url <url>", text: "where events are sent", member: "url", required: true },
    { flags: "--types <types>", text: "types of events, with commas; all by default", member: "types", read: names },
    description,
  ],
  madeColumns: [{ head: "SECRET", at: "secret" }],
  update: r.webhooks.update,
  updates: [
    { flags: "--url <url>", text: "where events are sent", member: "url" },
    { flags: "--types <types>", text: "types of events, with commas", member: "types", read: names },
    { flags: "--enable", text: "send again", member: "enabled" },
    { flags: "--disable", text: "send no more", member: "enabled", read: () => false },
    { flags: "--secret-stdin", text: "another secret, from standard input", member: "secret", read: () => readSecret() },
    description,
  ],
  delete: r.webhooks.delete,
};
const deliveryColumns = columnsOf("at", "type", "subject", "attempt", "delivered", "status", "ms", "error").map((column) =>
  column.at === "at" ? { ...column, time: true as const } : column,
);

/** Credentials of devices and programs, and the receivers of events. */
export const credentials = [
  noun(["key", "keys", "apikey", "apikeys"], "API keys, by which devices sign in", verbsOf(keyEntity)),
  noun(["client", "clients", "oauthclient", "oauthclients"], "OAuth clients, by which programs sign in", [
    ...verbsOf(clientEntity),
    {
      name: "rotate",
      summary: "Give a client a new secret, which is shown once",
      args: "<name>",
      completes: [clientEntity],
      writes: true,
      options: [["--keep <seconds>", "so long the one before stays good; a day by default, 0 also ends its tokens"]],
      async run(session, [name = ""], options) {
        const keep = text(options, "keep");
        const body = keep === undefined ? {} : { previousSecretTtl: wholeOf(keep, "--keep") };
        const params = { clientId: await refOf(session, clientEntity, name) };
        await session.one(await session.write(r.oauth2Clients.rotateSecret, { params, body }), [
          ...clientEntity.columns,
          ...(clientEntity.madeColumns ?? []),
        ]);
      },
    },
  ]),
  noun(["webhook", "webhooks"], "Webhooks: events that are sent to an address", [
    ...verbsOf(webhookEntity),
    {
      name: "test",
      summary: "Send a test event now, and tell what came of it",
      args: "<name>",
      completes: [webhookEntity],
      writes: true,
      async run(session, [name = ""]) {
        const params = { webhookId: await refOf(session, webhookEntity, name) };
        await session.one(await session.write(r.webhooks.test, { params }), deliveryColumns);
      },
    },
    {
      name: "replay",
      summary: "Send the events behind a cursor again",
      args: "<name> <cursor>",
      completes: [webhookEntity],
      writes: true,
      async run(session, [name = "", after = ""]) {
        const params = { webhookId: await refOf(session, webhookEntity, name) };
        await session.one(await session.write(r.webhooks.replay, { params, body: { after } }), webhookEntity.columns);
      },
    },
    rowsVerb({
      name: "deliveries",
      summary: "List the newest attempts to deliver events",
      row: r.webhooks.deliveries,
      of: webhookEntity,
      columns: deliveryColumns,
      options: [["--limit <n>", "so many, 50 by default"]],
      query: (options) => ({ limit: text(options, "limit") }),
    }),
  ]),
];
