import { type MessagingAccess, type MessagingStatus, routeTable as r } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { call, dialects, refused } from "../support/call.ts";
import { makeTenant } from "../support/tenants.ts";

// The broker is a stub where this run has started the services itself; what a real one does is shown by tests/e2e/messaging.real.test.ts.
describe.each(dialects)("messaging, %s", (dialect) => {
  let auth: string;
  beforeAll(async () => {
    auth = (await makeTenant(dialect, 0)).admin;
  });
  const status = async () => (await call<MessagingStatus>(r.messaging.status, dialect, { auth })).json;

  it("management 10.5 nothing is enabled at first, and there are no passwords to change", async () => {
    expect(await status()).toMatchObject({ enabled: false, dmfEnabled: false, sieEnabled: false, users: [] });
    await refused(r.messaging.setPasswords, dialect, { auth, body: { dmf: "a-long-password" } }, [409, "amqp.notEnabled"]);
  });

  it("management 10.5 passwords of users that are not there and short ones are refused before anything is enabled", async () => {
    for (const passwords of [{ sie: "a-long-password" }, { root: "a-long-password" }]) {
      await refused(r.messaging.enableDmf, dialect, { auth, body: { passwords } }, [404, "repo.entityNotFound"]);
    }
    await refused(r.messaging.enableDmf, dialect, { auth, body: { passwords: { dmf: "short" } } }, [400, "repo.constraintViolation"]);
    expect(await status()).toMatchObject({ enabled: false });
  });

  it("management 10.5 DMF is enabled once, again only with override, and the status shows users without passwords", async () => {
    const { json: made } = await call<MessagingAccess>(r.messaging.enableDmf, dialect, { auth });
    const [name = ""] = Object.keys(made.users);
    const user = made.users[name];
    expect(made).toMatchObject({ ssl: false, port: 5672, service: "127.0.0.1", vHost: made.vhost });
    expect(user).toMatchObject({ username: name, password: expect.stringMatching(/^.{32}$/) });
    expect(user?.amqpUri).toBe(`amqp://${name}:${user?.password}@127.0.0.1:5672/${made.vhost}`);
    for (const route of [r.messaging.enableDmf, r.messaging.enableDmfWithGeneratedPasswords]) {
      await refused(route, dialect, { auth }, [409, "amqp.alreadyEnabled"]);
    }
    const body = { passwords: { [name]: "a-password-of-mine" }, override: true };
    const again = await call<MessagingAccess>(r.messaging.enableDmf, dialect, { auth, body });
    expect(again.json).toMatchObject({ vhost: made.vhost, users: { [name]: { password: "a-password-of-mine" } } });
    const seen = await call(r.messaging.status, dialect, { auth });
    expect(seen.json).toMatchObject({ enabled: true, dmfEnabled: true, sieEnabled: false, vhost: made.vhost, users: [name] });
    expect(seen.text).not.toContain("password");
  });

  it("management 10.5 passwords change by the name or the use of a user; an unknown one changes none", async () => {
    const { users } = await status();
    for (const name of ["dmf", ...users]) await call(r.messaging.setPasswords, dialect, { auth, body: { [name]: "a-new-password" } });
    await refused(r.messaging.setPasswords, dialect, { auth, body: { sie: "a-new-password" } }, [404, "repo.entityNotFound"]);
  });

  it("management 10.5 the stream of events has a user of its own in the same virtual host", async () => {
    const { vhost } = await status();
    const { json } = await call<MessagingAccess>(r.messaging.enableSie, dialect, { auth });
    expect(json.vhost).toBe(vhost);
    await refused(r.messaging.enableSie, dialect, { auth }, [409, "amqp.alreadyEnabled"]);
    expect((await status()).users).toHaveLength(2);
  });
});
