import { routeTable as r } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { accessBuilder } from "../support/access.ts";
import { build, unique } from "../support/build.ts";
import { call, urlOf } from "../support/call.ts";
import { device } from "../support/device.ts";
import { type Answer, credentials, type Headers, send, trustsUs } from "../support/http.ts";
import { importedPassword } from "../support/passwords.ts";
import { forEach } from "../support/wait.ts";

const { user } = accessBuilder("spec");
const { basic } = credentials;
const userinfo = urlOf(r.userinfo.get, "spec", {});
const info = (authorization: string, more: Headers = {}) => send(userinfo, { headers: { authorization, ...more } });

let last = 0;
const elsewhere = () => ({ "x-forwarded-for": `198.51.100.${10 + last++}` });

/** Sends many requests, a few at a time, and returns the answers by status; answers of one status must be alike. */
async function flood(times: number, ask: (n: number) => Promise<Answer>): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  const bodies = new Set<string>();
  await forEach(
    Array.from({ length: times }, (_, n) => n),
    async (n) => {
      const { status, text, headers } = await ask(n);
      counts[status] = (counts[status] ?? 0) + 1;
      bodies.add(`${status} ${text}`);
      if (status === 429) expect(Number(headers["retry-after"])).toBeGreaterThanOrEqual(1);
    },
    20,
  );
  expect(bodies.size).toBe(Object.keys(counts).length);
  return counts;
}

describe("failed sign-ins", () => {
  it("management 1.1 ten of a password are verified, as many for an unknown user, and the signed-in user goes on", async () => {
    const { name, auth } = await user(["READ_TARGET"]);
    expect((await info(auth)).status).toBe(200);
    for (const tried of [name, unique("nobody")]) {
      const counts = await flood(400, (n) => info(basic(tried, `wrong${n}`)));
      // There are more if a minute ended meanwhile.
      expect([10, 20]).toContain(counts[401]);
      expect(Object.keys(counts)).toEqual(["401", "429"]);
    }
    expect((await info(auth)).status).toBe(200);
    expect((await info(credentials.admin)).status).toBe(200);
  });

  it.runIf(trustsUs)("management 1.1 failures of many users from one address do not disturb others", async () => {
    const { auth } = await user(["READ_TARGET"]);
    const from = elsewhere();
    expect((await info(auth, from)).status).toBe(200);
    // An unknown user costs as much work as one whose password is hashed here, so that only some of them are unknown.
    const { passwordHash } = await importedPassword();
    const known = Array.from({ length: 120 }, () => ({ name: unique("user"), passwordHash }));
    await call(r.users.create, "spec", { body: known });
    const nameOf = (n: number) => (n % 30 === 0 ? unique("nobody") : (known[n % known.length]?.name as string));
    const counts = await flood(600, (n) => info(basic(nameOf(n), `wrong${n}`), from));
    expect(counts[401]).toBeGreaterThanOrEqual(100);
    expect(Object.keys(counts)).toEqual(["401", "429"]);
    expect((await info(auth, from)).status).toBe(200);
    const other = await user(["READ_TARGET"]);
    expect((await info(other.auth, elsewhere())).status).toBe(200);
  });

  it.runIf(trustsUs)("device 9.1 failures of one device's token do not disturb other devices behind its address", async () => {
    const from = elsewhere();
    const { controllerId } = await build.target();
    const poll = (id: string, authorization: string) =>
      send(urlOf(r.device.poll, "device", { params: { controllerId: id } }), { headers: { authorization, ...from } });
    // There are fewer than the device's requests a second.
    let refused = 0;
    for (let n = 0; n < 40; n++) {
      const { status, text } = await poll(controllerId, `TargetToken wrong${n}`);
      expect(text).toBe("");
      expect([401, 429]).toContain(status);
      if (status === 429) refused += 1;
    }
    expect(refused).toBeGreaterThanOrEqual(10);
    for (let n = 0; n < 5; n++) expect((await poll(unique("neighbour"), credentials.gateway)).status).toBe(200);
    expect((await device(controllerId).poll()).status).toBe(200);
  });

  it.each([4_097, 12_000])("management 1.1 a credential of %i characters is denied before any work is done for it", async (length) => {
    const authorization = basic("admin", "x".repeat(length)).slice(0, length);
    for (let n = 0; n < 15; n++) expect((await info(authorization)).status).toBe(401);
  });
});
