import { usage } from "../exit.ts";
import { auditColumns, type Column, columnsOf } from "../output/columns.ts";
import { idOf } from "../resolve.ts";
import { r } from "../routes.ts";
import { isSecretSetting } from "../secret-setting.ts";
import { readSecret } from "../sign-in.ts";
import { type Entity, noun, verbsOf } from "./entity.ts";
import { operationColumns, waitVerb } from "./operations.ts";

const names = (value: string | true) => String(value).split(",");
const userEntity: Entity = {
  word: "user",
  list: r.users.list,
  listQuery: { representation: "full" },
  param: "userId",
  columns: [
    { head: "ID", at: "id" },
    { head: "NAME", at: "name" },
    { head: "TYPE", at: "type" },
    { head: "PERMISSIONS", at: "permissions", wide: true },
    ...auditColumns,
  ],
  get: r.users.get,
  create: r.users.create,
  many: true,
  creates: [
    {
      flags: "--password-stdin",
      text: "read the password from standard input; without it the user comes from an identity provider",
      member: "password",
      read: () => readSecret(),
    },
    { flags: "--permissions <names>", text: "permissions, with commas", member: "permissions", read: names },
  ],
  delete: r.users.delete,
};
const roleEntity: Entity = {
  word: "role",
  list: r.roles.list,
  listQuery: { representation: "full" },
  param: "roleId",
  columns: [
    { head: "ID", at: "id" },
    { head: "NAME", at: "name" },
    {
      head: "PERMISSIONS",
      at: (row: { permissions?: { permission: string }[] }) => row.permissions?.map(({ permission }) => permission).join(","),
    },
    ...auditColumns,
  ],
  get: r.roles.get,
  create: r.roles.create,
  many: true,
  creates: [
    {
      flags: "--permissions <names>",
      text: "permissions, with commas",
      member: "permissions",
      read: (value) => names(value).map((permission) => ({ permission })),
    },
  ],
  delete: r.roles.delete,
};
const permissionColumn: readonly Column[] = [
  { head: "PERMISSION", at: "permission" },
  { head: "TARGET TYPES", at: (row: { targetTypeScopes: number[] | null }) => row.targetTypeScopes?.join(",") ?? "all" },
];

const settingColumns: readonly Column[] = [
  { head: "KEY", at: "key" },
  { head: "VALUE", at: "value" },
  { head: "DEFAULT", at: "global" },
];
const hidden = (key: string, value: unknown) => (isSecretSetting(key) && value !== "" ? "(hidden: setting get)" : value);

/** Reads the value of a setting as JSON has it: true, 5 and text. */
function scalarOf(given: string): string | number | boolean {
  return /^(true|false|-?\d+)$/.test(given) ? (JSON.parse(given) as number | boolean) : given;
}

export const people = [
  noun(["user", "users"], "Users of the tenant", [
    ...verbsOf(userEntity),
    {
      name: "grant",
      summary: "Give permissions to a user",
      args: "<name> <permission...>",
      completes: [userEntity],
      writes: true,
      async run(session, [name = "", ...permissions]) {
        const params = { userId: await idOf(session, userEntity, name) };
        const all = await session.write(r.users.addPermissions, { params, body: permissions });
        await session.rows(
          all.map((permission) => ({ permission })),
          permissionColumn.slice(0, 1),
        );
      },
    },
    {
      name: "revoke",
      summary: "Take a permission from a user",
      args: "<name> <permission>",
      writes: true,
      async run(session, [name = "", permission = ""]) {
        await session.write(r.users.removePermission, { params: { userId: await idOf(session, userEntity, name), permission } });
        session.note(`user ${name} lacks ${permission}`);
      },
    },
    {
      name: "password",
      summary: "Change the password of a user, which is read from standard input",
      args: "<name>",
      completes: [userEntity],
      writes: true,
      async run(session, [name = ""]) {
        const params = { userId: await idOf(session, userEntity, name) };
        await session.write(r.users.changePassword, { params, body: { newPassword: await readSecret() } });
        session.note(`the password of ${name} is changed`);
      },
    },
    {
      name: "permissions",
      summary: "List the permissions of a user",
      args: "<name>",
      run: async (session, [name = ""]) =>
        session.rows(
          await session.read(r.users.listPermissions, { params: { userId: await idOf(session, userEntity, name) } }),
          permissionColumn,
        ),
    },
  ]),
  noun(["role", "roles"], "Roles, which access tokens name", [
    ...verbsOf(roleEntity),
    {
      name: "grant",
      summary: "Give permissions to a role",
      args: "<name> <permission...>",
      writes: true,
      async run(session, [name = "", ...permissions]) {
        const params = { roleId: await idOf(session, roleEntity, name) };
        await session.rows(await session.write(r.roles.addPermissions, { params, body: permissions } as never), permissionColumn);
      },
    },
    {
      name: "revoke",
      summary: "Take a permission from a role",
      args: "<name> <permission>",
      writes: true,
      async run(session, [name = "", permission = ""]) {
        await session.write(r.roles.removePermission, { params: { roleId: await idOf(session, roleEntity, name), permission } });
        session.note(`role ${name} lacks ${permission}`);
      },
    },
  ]),
  noun(["setting", "settings", "config"], "Settings of the tenant", [
    {
      name: "list",
      summary: "List the settings",
      options: [["--changed", "those that differ from the default"]],
      async run(session, _args, options) {
        const all = Object.entries(await session.read(r.configs.list)).map(([key, { value, global }]) => ({
          key,
          value: hidden(key, value),
          global,
        }));
        await session.rows(options["changed"] ? all.filter(({ global }) => !global) : all, settingColumns, { name: "key" });
      },
    },
    {
      name: "diff",
      summary: "List the settings that differ from the default, with it",
      async run(session) {
        const [values, known] = await Promise.all([session.read(r.configs.list), session.read(r.configs.schema)]);
        const defaults = new Map(known.map((one) => [one.key as string, one.default]));
        const rows = Object.entries(values)
          .filter(([, { global }]) => !global)
          .map(([key, { value }]) => ({ key, value: hidden(key, value), default: hidden(key, defaults.get(key)) }));
        await session.rows(rows, columnsOf("key", "value", "default"), { name: "key" });
      },
    },
    {
      name: "get",
      summary: "Show one setting",
      args: "<key>",
      run: async (session, [key = ""]) =>
        session.one({ key, ...(await session.read(r.configs.get, { params: { key } })), _links: undefined }, settingColumns),
    },
    {
      name: "set",
      summary: "Change a setting",
      args: "<key> [value]",
      writes: true,
      options: [["--value-stdin", "read a secret value from standard input"]],
      async run(session, [key = "", value], options) {
        if ((value === undefined) === (options["valueStdin"] === undefined)) throw usage("give the value, or --value-stdin");
        await session.write(r.configs.put, { params: { key }, body: { value: scalarOf(value ?? (await readSecret())) } });
        session.note(`${key} is set`);
      },
    },
    {
      name: "unset",
      summary: "Reset a setting to its default",
      args: "<key>",
      writes: true,
      async run(session, [key = ""]) {
        await session.write(r.configs.delete, { params: { key } });
        session.note(`${key} has its default`);
      },
    },
    {
      name: "describe",
      summary: "Say what settings there are and which values they may have",
      args: "[key]",
      async run(session, [key]) {
        const all = await session.read(r.configs.schema);
        await session.rows(
          all.filter((one) => key === undefined || one.key === key),
          [
            { head: "KEY", at: "key" },
            { head: "TYPE", at: "type" },
            { head: "DEFAULT", at: "default" },
            { head: "TEXT", at: "text" },
          ],
          { name: "key" },
        );
      },
    },
  ]),
  noun(["operation", "operations"], "Work that goes on after its request", [
    ...verbsOf({
      word: "operation",
      list: r.operations.list,
      param: "operationId",
      get: r.operations.get,
      columns: operationColumns,
    }),
    waitVerb,
  ]),
];
